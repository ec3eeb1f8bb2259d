"""A small variant of every module of timm.models: (name, options of its constructor).

The smallest one that the module has a name for; narrowed by options where that is still large.
Modules with models of several kinds have one of each. Pictures are as small as the model permits.
"""

import torch

# At 64 a norm over a single pixel divides rounding by rounding.
LEAST = {'shvit_s1': 128}
SIZES = (64, 96, 128, 160, 192, 224, 240, 256, 288, 299, 331, 384, 512, 1024)

MODELS = {
    'beit': ('beit_base_patch16_224', {'embed_dim': 192, 'depth': 4, 'num_heads': 3}),
    'byoanet': ('botnet26t_256', {}),
    'byobnet': ('repvgg_a0', {}),
    'cait': ('cait_xxs24_224', {'depth': 4}),
    'coat': ('coat_lite_tiny', {}),
    'convit': ('convit_tiny', {}),
    'convmixer': ('convmixer_1024_20_ks9_p14', {}),
    'convnext': ('convnext_atto', {}),
    'crossvit': ('crossvit_tiny_240', {}),
    'cspnet': ('darknet17', {}),
    'davit': ('davit_tiny', {}),
    'deit': ('deit_tiny_distilled_patch16_224', {}),
    'densenet': ('densenet121', {}),
    'dla': ('dla46x_c', {}),
    'dpn': ('dpn48b', {}),
    'edgenext': ('edgenext_xx_small', {}),
    'efficientformer': ('efficientformer_l1', {}),
    'efficientformer_v2': ('efficientformerv2_s0', {}),
    'efficientnet': ('efficientnet_b0', {}),
    'efficientvit_mit': ('efficientvit_b0', {}),
    'efficientvit_msra': ('efficientvit_m0', {}),
    'eva': ('eva02_tiny_patch14_224', {}),
    'fasternet': ('fasternet_t0', {}),
    'fastvit': ('fastvit_t8', {}),
    'focalnet': ('focalnet_tiny_srf', {}),
    'gcvit': ('gcvit_xxtiny', {}),
    'ghostnet': ('ghostnet_050', {}),
    'hardcorenas': ('hardcorenas_a', {}),
    'hgnet': ('hgnetv2_b0', {}),
    'hiera': ('hiera_tiny_224', {}),
    'hieradet_sam2': ('sam2_hiera_tiny', {}),
    'hrnet': ('hrnet_w18_small', {}),
    'inception_next': ('inception_next_atto', {}),
    'inception_resnet_v2': ('inception_resnet_v2', {}),
    'inception_v3': ('inception_v3', {}),
    'inception_v4': ('inception_v4', {}),
    'levit': ('levit_128s', {}),
    'mambaout': ('mambaout_femto', {}),
    'maxxvit': ('maxvit_pico_rw_256', {}),
    'metaformer': ('poolformerv2_s12', {}),
    'mlp_mixer': ('gmlp_ti16_224', {}),
    'mobilenetv3': ('mobilenetv3_small_050', {}),
    'mobilenetv5': ('mobilenetv5_base', {}),
    'mobilevit': ('mobilevit_xxs', {}),
    'mvitv2': ('mvitv2_tiny', {}),
    'naflexvit': ('naflexvit_base_patch16_gap', {'embed_dim': 192, 'depth': 4, 'num_heads': 3}),
    'nasnet': ('nasnetalarge', {}),
    'nest': ('nest_tiny', {}),
    'nextvit': ('nextvit_small', {}),
    'nfnet': ('nf_resnet26', {}),
    'pit': ('pit_ti_224', {}),
    'pnasnet': ('pnasnet5large', {}),
    'pvt_v2': ('pvt_v2_b0', {}),
    'rdnet': ('rdnet_tiny', {}),
    'regnet': ('regnety_002', {}),
    'repghost': ('repghostnet_050', {}),
    'repvit': ('repvit_m0_9', {}),
    'res2net': ('res2net50_48w_2s', {}),
    'resnest': ('resnest14d', {}),
    'resnet': ('resnet10t', {}),
    'resnetv2': ('resnetv2_18', {}),
    'rexnet': ('rexnet_100', {}),
    'selecsls': ('selecsls42b', {}),
    'senet': ('legacy_seresnet18', {}),
    'sequencer': ('sequencer2d_s', {}),
    'shvit': ('shvit_s1', {}),
    'sknet': ('skresnet18', {}),
    'starnet': ('starnet_s050', {}),
    'swiftformer': ('swiftformer_xs', {}),
    'swin_transformer': ('swin_tiny_patch4_window7_224', {}),
    'swin_transformer_v2': ('swinv2_tiny_window8_256', {}),
    'swin_transformer_v2_cr': ('swinv2_cr_tiny_224', {}),
    'tiny_vit': ('tiny_vit_5m_224', {}),
    'tnt': ('tnt_s_patch16_224', {}),
    'tresnet': ('tresnet_m', {}),
    'twins': ('twins_pcpvt_small', {}),
    'vgg': ('vgg11_bn', {'mlp_ratio': 0.125}),
    'visformer': ('visformer_tiny', {}),
    'vision_transformer': ('vit_tiny_patch16_224', {}),
    'vision_transformer_hybrid': ('vit_tiny_r_s16_p8_224', {}),
    'vision_transformer_relpos': ('vit_relpos_small_patch16_224', {}),
    'vision_transformer_sam': ('samvit_base_patch16',
                               {'embed_dim': 192, 'depth': 4, 'num_heads': 3,
                                'global_attn_indexes': (1, 3)}),
    'vitamin': ('vitamin_small_224', {}),
    'volo': ('volo_d1_224', {}),
    'vovnet': ('ese_vovnet19b_slim_dw', {}),
    'xception': ('legacy_xception', {}),
    'xception_aligned': ('xception41', {}),
    'xcit': ('xcit_nano_12_p16_224', {}),
}

# More models from modules that hold several kinds.
MORE = {
    'byoanet.halonet': ('halonet26t', {}),
    'byoanet.lambda': ('lambda_resnet26t', {}),
    'byobnet.gernet': ('gernet_s', {}),
    'byobnet.mobileone': ('mobileone_s0', {}),
    'byobnet.regnetz': ('regnetz_b16', {}),
    'coat.parallel': ('coat_mini', {}),
    'convnext.v2': ('convnextv2_atto', {}),
    'efficientnet.mixnet': ('mixnet_s', {}),
    'efficientnet.mobilenetv2': ('mobilenetv2_035', {}),
    'eva.rope': ('vit_small_patch16_rope_224', {'depth': 4}),
    'ghostnet.v3': ('ghostnetv3_050', {}),
    'maxxvit.coatnet': ('coatnet_pico_rw_224', {}),
    'metaformer.caformer': ('caformer_s18', {}),
    'mlp_mixer.mixer': ('mixer_s32_224', {}),
    'mlp_mixer.resmlp': ('resmlp_12_224', {}),
    'mobilenetv3.v4_hybrid': ('mobilenetv4_hybrid_medium_075', {}),
    'mobilevit.v2': ('mobilevitv2_050', {}),
    'nfnet.dm': ('dm_nfnet_f0', {}),
    'twins.svt': ('twins_svt_small', {}),
}


def modules():
    """All of timm: a module without a line above would go unseen."""
    from timm.models import list_modules
    missing = set(list_modules()) - set(MODELS)
    if missing:
        raise ValueError(f'timm_models.py: no variant of {", ".join(sorted(missing))}')
    return sorted({**MODELS, **MORE})


def made(name, options):
    """The model and a picture of the smallest size that it computes something of."""
    import timm
    config = timm.get_pretrained_cfg(name).to_dict() if timm.is_model_pretrained(name) else {}
    channels = config.get('input_size', (3, 224, 224))[0]
    reasons = []
    for size in (size for size in SIZES if size >= LEAST.get(name, 0)):
        for sizes in ({'img_size': size}, {}):
            try:
                model = timm.create_model(name, **options, **sizes).eval()
                picture = torch.rand(1, channels, size, size)
                with torch.no_grad():
                    model(picture)
            except (TypeError, AssertionError, RuntimeError, ValueError, IndexError) as error:
                reasons.append(f'{size}: {error}')
                continue
            return model, picture
    raise ValueError(f'{name} takes no picture: {reasons[-1]}')


def make(module):
    model, picture = made(*{**MODELS, **MORE}[module])
    return model, (picture,), {}, None
