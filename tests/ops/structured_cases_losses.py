"""Losses, distances and layers of several inputs. Used by
make_structured_reference.py."""

import torch
import torch.nn.functional as F

from structured_format import L, POOLS, T, case, fail

generator = torch.Generator().manual_seed(7)
POOLS['chance_float32'] = torch.rand(64, generator=generator) * 0.98 + 0.01
POOLS['chance_float64'] = torch.rand(
    64, generator=generator, dtype=torch.float64) * 0.98 + 0.01
KINDS = ['float32', 'float64']
REDUCTIONS = ['none', 'mean', 'sum']


def losses():
    for name in KINDS:
        x, y = T((3, 4), name), T((3, 4), name, 20)
        p, q = T((3, 4), 'chance_' + name), T((3, 4), 'chance_' + name, 20)
        sign = L([[1, -1, 1, 1], [-1, -1, 1, -1], [1, 1, 1, -1]])
        for how in REDUCTIONS:
            for row in ['mse_loss', 'l1_loss', 'smooth_l1_loss', 'huber_loss']:
                case(row, getattr(F, row), x, y, reduction=how)
            case('huber_loss', F.huber_loss, x, y, reduction=how, delta=0.3)
            case('smooth_l1_loss', F.smooth_l1_loss, x, y, reduction=how,
                 beta=0.4)
            case('binary_cross_entropy', F.binary_cross_entropy, p, q,
                 reduction=how)
            case('binary_cross_entropy', F.binary_cross_entropy, p, q,
                 T((4,), 'chance_' + name), reduction=how)
            row = 'binary_cross_entropy_with_logits'
            case(row, F.binary_cross_entropy_with_logits, x, q, reduction=how)
            case(row, F.binary_cross_entropy_with_logits, x, q,
                 T((4,), name, 30), reduction=how,
                 pos_weight=T((4,), 'chance_' + name, 40))
            case('kl_div', F.kl_div, x, q, reduction=how)
            case('kl_div', F.kl_div, x, y, reduction=how, log_target=True)
            case('poisson_nll_loss', F.poisson_nll_loss, x, p, reduction=how)
            case('poisson_nll_loss', F.poisson_nll_loss, p,
                 L([[3, 1, 0, 7]] * 3, name), log_input=False, full=True,
                 reduction=how)
            case('gaussian_nll_loss', F.gaussian_nll_loss, x, y, p,
                 reduction=how)
            case('gaussian_nll_loss', F.gaussian_nll_loss, x, y,
                 T((3,), 'chance_' + name), full=True, reduction=how)
            case('hinge_embedding_loss', F.hinge_embedding_loss, x, sign,
                 reduction=how)
            case('margin_ranking_loss', F.margin_ranking_loss, x, y, sign, 0.5,
                 reduction=how)
            case('soft_margin_loss', F.soft_margin_loss, x, sign,
                 reduction=how)
            case('multilabel_soft_margin_loss', F.multilabel_soft_margin_loss,
                 x, q, reduction=how)
            case('cosine_embedding_loss', F.cosine_embedding_loss, x, y,
                 L([1, -1, 1]), 0.1, reduction=how)
            case('triplet_margin_loss', F.triplet_margin_loss, x, y,
                 T((3, 4), name, 50), swap=True, reduction=how)
        case('kl_div', F.kl_div, x, q, reduction='batchmean')
        case('mse_loss', F.mse_loss, x, y, size_average=False)
        case('mse_loss', F.mse_loss, x, T((4,), name))
        case('mse_loss', F.mse_loss, T((0, 4), name), T((0, 4), name))
    special = T((16,), 'special_float32')
    case('mse_loss', F.mse_loss, special, T((16,)), reduction='none')
    case('l1_loss', F.l1_loss, special, T((16,)), reduction='none')
    fail('l1_loss', F.l1_loss, T((3,)), T((3,)), reduction='other')


def class_losses():
    for name in KINDS:
        x, target = T((4, 5), name), L([0, 4, 2, 2])
        image, places = T((2, 3, 2, 2), name), L([[[0, 1], [2, 1]]] * 2)
        weight = T((5,), 'chance_' + name)
        for how in REDUCTIONS:
            for row in ['nll_loss', 'cross_entropy']:
                function = getattr(F, row)
                case(row, function, x, target, reduction=how)
                case(row, function, x, target, weight, reduction=how)
                case(row, function, x, L([0, -100, 2, 3]), reduction=how)
                case(row, function, x, target, weight, ignore_index=2,
                     reduction=how)
                case(row, function, image, places, reduction=how)
                case(row, function, T((5,), name), L(3), reduction=how)
            row, function = 'cross_entropy', F.cross_entropy
            case(row, function, x, L([0, -100, 2, 3]), reduction=how,
                 label_smoothing=0.1)
            case(row, function, x, target, weight, reduction=how,
                 label_smoothing=0.2)
            chances = T((4, 5), 'chance_' + name)
            case(row, function, x, chances, reduction=how)
            case(row, function, x, chances, weight, reduction=how,
                 label_smoothing=0.2)
    fail('cross_entropy', F.cross_entropy, T((4, 5)), L([0, 1, 2]))


def distances():
    for name in KINDS:
        x, y = T((3, 4), name), T((3, 4), name, 20)
        case('cosine_similarity', F.cosine_similarity, x, y)
        case('cosine_similarity', F.cosine_similarity, x, T((4,), name), -1)
        case('cosine_similarity', F.cosine_similarity, x, y, 0, 0.5)
        case('pairwise_distance', F.pairwise_distance, x, y)
        case('pairwise_distance', F.pairwise_distance, x, y, 1.0, 1e-3, True)
        case('cdist', torch.cdist, x, T((5, 4), name, 30))
        case('cdist', torch.cdist, T((2, 3, 4), name), T((2, 5, 4), name, 30),
             1.0)
        case('dist', torch.dist, x, y)
        case('dist', torch.dist, x, y, 1)
        case('bilinear', F.bilinear, x, T((3, 2), name, 9),
             T((5, 4, 2), name, 40), T((5,), name))
        case('bilinear', F.bilinear, T((2, 3, 4), name), T((2, 3, 2), name, 9),
             T((5, 4, 2), name, 40))
        image = T((2, 7, 3, 4), name)
        case('local_response_norm', F.local_response_norm, image, 3)
        case('local_response_norm', F.local_response_norm, image, 4, 0.2, 0.5,
             2.0)
        case('local_response_norm', F.local_response_norm, T((2, 7, 3), name),
             5)
        case('lp_pool1d', F.lp_pool1d, T((2, 3, 8), 'chance_' + name), 2, 3)
        case('lp_pool2d', F.lp_pool2d, T((1, 2, 5, 6), 'chance_' + name), 3,
             (2, 3), 2)
    fail('cdist', torch.cdist, T((3,)), T((3,)))
    fail('cdist', torch.cdist, T((3, 4)), T((3, 5)))


FAMILIES = (losses, class_losses, distances)
