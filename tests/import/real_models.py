"""Known architectures in small configurations with seeded weights, from transformers and timm.

Used by make_models.py. Each entry makes (model, args, kwargs, dynamic_shapes).
"""

import torch
from torch import nn
from torch.export import Dim


def tokens(*sizes, below=90):
    return torch.randint(1, below, sizes)


def pixels(size=32, batch=1):
    return torch.rand(batch, 3, size, size)


def bert():
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=96, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=64)
    shapes = {name: {0: Dim('batch', max=16), 1: Dim('length', max=60)}
              for name in ('input_ids', 'attention_mask')}
    mask = torch.ones(2, 7, dtype=torch.int64)
    mask[1, 5:] = 0
    return BertModel(config), (), {'input_ids': tokens(2, 7), 'attention_mask': mask}, shapes


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=96, n_positions=64, n_embd=32, n_layer=2, n_head=4,
                        use_cache=False)
    return GPT2LMHeadModel(config), (), {'input_ids': tokens(2, 7)}, None


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                         use_cache=False)
    return LlamaForCausalLM(config), (), {'input_ids': tokens(2, 7)}, None


def t5():
    from transformers import T5Config, T5ForConditionalGeneration
    config = T5Config(vocab_size=96, d_model=32, d_kv=8, d_ff=64, num_layers=2,
                      num_decoder_layers=1, num_heads=4, use_cache=False)
    return (T5ForConditionalGeneration(config), (),
            {'input_ids': tokens(2, 7), 'decoder_input_ids': tokens(2, 3)}, None)


def whisper():
    from transformers import WhisperConfig, WhisperModel
    config = WhisperConfig(vocab_size=96, num_mel_bins=8, d_model=32, encoder_layers=1,
                           decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                           encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=20,
                           max_target_positions=16, use_cache=False, pad_token_id=0,
                           decoder_start_token_id=1, bos_token_id=1, eos_token_id=2)
    return (WhisperModel(config), (),
            {'input_features': torch.randn(1, 8, 40), 'decoder_input_ids': tokens(1, 5)}, None)


def vit():
    from transformers import ViTConfig, ViTModel
    config = ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                       intermediate_size=64, image_size=32, patch_size=8)
    return ViTModel(config), (), {'pixel_values': pixels()}, None


def deit():
    from transformers import DeiTConfig, DeiTModel
    config = DeiTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, image_size=32, patch_size=8)
    return DeiTModel(config), (), {'pixel_values': pixels()}, None


def wav2vec2():
    from transformers import Wav2Vec2Config, Wav2Vec2Model
    config = Wav2Vec2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                            intermediate_size=64, conv_dim=(16, 16, 16), conv_stride=(5, 2, 2),
                            conv_kernel=(10, 3, 3), num_conv_pos_embeddings=8,
                            num_conv_pos_embedding_groups=4, vocab_size=32)
    return Wav2Vec2Model(config), (), {'input_values': torch.randn(1, 400)}, None


def clip():
    from transformers import CLIPConfig, CLIPModel
    text = {'vocab_size': 96, 'hidden_size': 32, 'intermediate_size': 64, 'num_hidden_layers': 1,
            'num_attention_heads': 4, 'max_position_embeddings': 16, 'eos_token_id': 2}
    vision = {'hidden_size': 32, 'intermediate_size': 64, 'num_hidden_layers': 1,
              'num_attention_heads': 4, 'image_size': 32, 'patch_size': 8}
    config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)
    return (CLIPModel(config), (),
            {'input_ids': tokens(2, 7), 'pixel_values': pixels(),
             'attention_mask': torch.ones(2, 7, dtype=torch.int64)}, None)


def deberta():
    from transformers import DebertaV2Config, DebertaV2Model
    config = DebertaV2Config(vocab_size=96, hidden_size=32, num_hidden_layers=2,
                             num_attention_heads=4, intermediate_size=64, relative_attention=True,
                             pos_att_type=['p2c', 'c2p'], max_position_embeddings=64)
    return DebertaV2Model(config), (), {'input_ids': tokens(2, 7)}, None


def mixtral():
    from transformers import MixtralConfig, MixtralForCausalLM
    config = MixtralConfig(vocab_size=96, hidden_size=32, intermediate_size=48,
                           num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2,
                           num_local_experts=4, use_cache=False, experts_implementation='batched_mm')
    return MixtralForCausalLM(config), (), {'input_ids': tokens(1, 6)}, None


def mamba():
    from transformers import MambaConfig, MambaModel
    config = MambaConfig(vocab_size=96, hidden_size=16, num_hidden_layers=1, state_size=4,
                         use_cache=False)
    return MambaModel(config), (), {'input_ids': tokens(1, 6)}, None


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation
    config = SegformerConfig(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1],
                             hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
                             num_attention_heads=[1, 2], mlp_ratios=[2, 2],
                             decoder_hidden_size=16, num_labels=5)
    return SegformerForSemanticSegmentation(config), (), {'pixel_values': pixels()}, None


def convnext():
    from transformers import ConvNextConfig, ConvNextModel
    config = ConvNextConfig(hidden_sizes=[16, 24, 32, 48], depths=[1, 1, 2, 1])
    return ConvNextModel(config), (), {'pixel_values': pixels(64)}, None


def swin():
    from transformers import SwinConfig, SwinModel
    config = SwinConfig(image_size=32, patch_size=2, embed_dim=16, depths=[2, 1],
                        num_heads=[2, 4], window_size=4)
    return SwinModel(config), (), {'pixel_values': pixels()}, None


def timm_model(name, size=64, **options):
    def make():
        import timm
        return timm.create_model(name, **options), (pixels(size),), {}, None
    return make


def efficientnet():
    from transformers import EfficientNetConfig, EfficientNetModel
    config = EfficientNetConfig(width_coefficient=0.1, depth_coefficient=0.3, image_size=64,
                                hidden_dim=128)
    return EfficientNetModel(config), (), {'pixel_values': pixels(64)}, None


def mobilenetv3():
    from timm.models.mobilenetv3 import _gen_mobilenet_v3
    model = _gen_mobilenet_v3('mobilenetv3_small_050', 0.1, num_classes=10)
    # timm's head has 1024 features whatever the width.
    model.conv_head = nn.Conv2d(model.conv_head.in_channels, 128, 1)
    model.classifier = nn.Linear(128, 10)
    return model, (pixels(64),), {}, None


def levit():
    from timm.models.levit import Levit
    return Levit(img_size=64, num_classes=10, embed_dim=(16, 24, 32), num_heads=(2, 2, 2),
                 key_dim=8, depth=(1, 1, 1)), (pixels(64),), {}, None


class DoubleConv(nn.Sequential):
    def __init__(self, ins, outs):
        super().__init__(nn.Conv2d(ins, outs, 3, padding=1), nn.GroupNorm(4, outs), nn.SiLU(),
                         nn.Conv2d(outs, outs, 3, padding=1), nn.GroupNorm(4, outs), nn.SiLU())


class UNet(nn.Module):
    """Three levels of 3 x 3 convolutions with links between down and up."""

    def __init__(self, widths=(8, 16, 32)):
        super().__init__()
        self.down = nn.ModuleList(DoubleConv(i, o) for i, o in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(o, i, 2, stride=2)
                                for i, o in zip(widths, widths[1:]))
        self.join = nn.ModuleList(DoubleConv(2 * i, i) for i in widths[:-1])
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        links = []
        for level in self.down[:-1]:
            x = level(x)
            links.append(x)
            x = nn.functional.max_pool2d(x, 2)
        x = self.down[-1](x)
        for up, join, link in zip(reversed(self.up), reversed(self.join), reversed(links)):
            x = join(torch.cat([up(x), link], 1))
        return self.head(nn.functional.interpolate(x, scale_factor=2., mode='bilinear'))


def unet():
    return UNet(), (pixels(32, batch=2),), {}, {'x': {0: Dim('batch', max=8)}}


REAL_MODELS = {
    'bert': bert, 'gpt2': gpt2, 'llama': llama, 't5': t5, 'whisper': whisper, 'vit': vit,
    'deit': deit, 'wav2vec2': wav2vec2, 'clip': clip, 'deberta': deberta, 'mixtral': mixtral,
    'mamba': mamba, 'segformer': segformer, 'convnext': convnext, 'swin': swin,
    'mobilenetv3': mobilenetv3,
    'efficientnet': efficientnet,
    'resnet': timm_model('resnet10t', num_classes=10, channels=(8, 16, 24, 32), stem_width=8),
    'coatnet': timm_model('coatnet_pico_rw_224', size=64, img_size=64, num_classes=10,
                          embed_dim=(16, 32, 32, 64), depths=(1, 1, 1, 1), stem_width=(8, 8)),
    'levit': levit, 'unet': unet,
}
