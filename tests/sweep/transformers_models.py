"""Architectures of transformers in small configurations with seeded weights.

Each entry makes (model, args, kwargs, dynamic_shapes). Those of tests/import are among them.
"""

import torch
from real_models import REAL_MODELS, pixels, tokens

# Under the names that most configurations use.
TEXT = {'vocab_size': 96, 'hidden_size': 32, 'num_hidden_layers': 2, 'num_attention_heads': 4,
        'intermediate_size': 64, 'max_position_embeddings': 64, 'pad_token_id': 0,
        'bos_token_id': 1, 'eos_token_id': 2}
GROUPED = {**TEXT, 'num_key_value_heads': 2, 'use_cache': False}
EXPERTS = {**GROUPED, 'num_experts': 4, 'num_local_experts': 4, 'num_experts_per_tok': 2,
           'moe_intermediate_size': 24, 'experts_implementation': 'batched_mm'}
GPT = {'vocab_size': 96, 'n_positions': 64, 'n_embd': 32, 'n_layer': 2, 'n_head': 4,
       'use_cache': False, 'bos_token_id': 1, 'eos_token_id': 2}
BART = {'vocab_size': 96, 'd_model': 32, 'encoder_layers': 2, 'decoder_layers': 2,
        'encoder_attention_heads': 4, 'decoder_attention_heads': 4, 'encoder_ffn_dim': 64,
        'decoder_ffn_dim': 64, 'max_position_embeddings': 64, 'use_cache': False,
        'pad_token_id': 0, 'bos_token_id': 1, 'eos_token_id': 2, 'decoder_start_token_id': 1,
        'forced_eos_token_id': 2}
T5 = {'vocab_size': 96, 'd_model': 32, 'd_kv': 8, 'd_ff': 64, 'num_layers': 2, 'num_heads': 4,
      'use_cache': False}
PATCHES = {'hidden_size': 32, 'num_hidden_layers': 2, 'num_attention_heads': 4,
           'intermediate_size': 64, 'image_size': 32, 'patch_size': 8}
SOUND = {'hidden_size': 32, 'num_hidden_layers': 2, 'num_attention_heads': 4,
         'intermediate_size': 64, 'conv_dim': (16, 16, 16), 'conv_stride': (5, 2, 2),
         'conv_kernel': (10, 3, 3), 'num_conv_pos_embeddings': 8,
         'num_conv_pos_embedding_groups': 4, 'vocab_size': 32}


def of(kind, options, inputs, head=''):
    """The model of transformers.{kind}Config and {kind}Model, or another head."""
    def make():
        import transformers
        config = getattr(transformers, kind + 'Config')(**options)
        model = getattr(transformers, kind + (head or 'Model'))(config)
        return model, (), inputs(), None
    return make


def text():
    return {'input_ids': tokens(2, 7)}


def masked():
    mask = torch.ones(2, 7, dtype=torch.int64)
    mask[1, 5:] = 0
    return {'input_ids': tokens(2, 7), 'attention_mask': mask}


def pairs():
    return {'input_ids': tokens(2, 7), 'decoder_input_ids': tokens(2, 3)}


def masked_pairs():
    return {**pairs(), 'attention_mask': torch.ones(2, 7, dtype=torch.int64),
            'decoder_attention_mask': torch.ones(2, 3, dtype=torch.int64)}


def picture(size=32):
    return lambda: {'pixel_values': pixels(size)}


def sound():
    return {'input_values': torch.randn(1, 400)}


def encoders():
    return {
        'roberta': of('Roberta', TEXT, masked),
        'xlm_roberta': of('XLMRoberta', TEXT, masked),
        'albert': of('Albert', {**TEXT, 'embedding_size': 16}, masked),
        'electra': of('Electra', {**TEXT, 'embedding_size': 16}, masked),
        'distilbert': of('DistilBert', {'vocab_size': 96, 'dim': 32, 'n_layers': 2, 'n_heads': 4,
                                        'hidden_dim': 64, 'max_position_embeddings': 64}, masked),
        'mpnet': of('MPNet', TEXT, masked),
        'deberta_v1': of('Deberta', {**TEXT, 'relative_attention': True,
                                     'pos_att_type': ['p2c', 'c2p']}, text),
        'funnel': of('Funnel', {'vocab_size': 96, 'block_sizes': [1, 1], 'd_model': 32,
                                'n_head': 4, 'd_head': 8, 'd_inner': 64, 'num_decoder_layers': 1},
                     lambda: {'input_ids': tokens(2, 8)}),
        'fnet': of('FNet', TEXT, text),
        'squeezebert': of('SqueezeBert', {**TEXT, 'embedding_size': 32}, masked),
        'convbert': of('ConvBert', {**TEXT, 'embedding_size': 16, 'conv_kernel_size': 3}, masked),
        'mobilebert': of('MobileBert', {**TEXT, 'embedding_size': 16, 'intra_bottleneck_size': 16,
                                        'true_hidden_size': 16}, masked),
        'roformer': of('RoFormer', {**TEXT, 'embedding_size': 32}, masked),
        'rembert': of('RemBert', {**TEXT, 'input_embedding_size': 16}, masked),
        'ernie': of('Ernie', TEXT, masked),
        'megatron_bert': of('MegatronBert', TEXT, masked),
        'modernbert': of('ModernBert', {**TEXT, 'local_attention': 4, 'cls_token_id': 1,
                                        'sep_token_id': 2}, masked),
        'nystromformer': of('Nystromformer', {**TEXT, 'segment_means_seq_len': 8,
                                              'num_landmarks': 8}, lambda: {
                                                  'input_ids': tokens(2, 8)}),
        'layoutlm': of('LayoutLM', TEXT, text),
        'data2vec_text': of('Data2VecText', TEXT, masked),
        'xlnet': of('XLNet', {'vocab_size': 96, 'd_model': 32, 'n_layer': 2, 'n_head': 4,
                              'd_inner': 64}, text),
        'longformer': of('Longformer', {**TEXT, 'attention_window': 4}, lambda: {
            'input_ids': tokens(2, 8)}),
        'bigbird': of('BigBird', {**TEXT, 'attention_type': 'original_full'}, masked),
        'esm': of('Esm', {**TEXT, 'position_embedding_type': 'rotary', 'mask_token_id': 3},
                  masked),
        'perceiver': of('Perceiver', {'num_latents': 4, 'd_latents': 16, 'd_model': 8,
                                      'num_blocks': 1, 'num_self_attends_per_block': 2,
                                      'num_self_attention_heads': 2,
                                      'num_cross_attention_heads': 2},
                        lambda: {'inputs': torch.randn(2, 5, 8)}),
    }


def decoders():
    causal = 'ForCausalLM'
    made = {
        'mistral': of('Mistral', GROUPED, masked, causal),
        'qwen2': of('Qwen2', GROUPED, masked, causal),
        'qwen3': of('Qwen3', {**GROUPED, 'head_dim': 8}, masked, causal),
        'qwen2_moe': of('Qwen2Moe', {**EXPERTS, 'shared_expert_intermediate_size': 24}, text,
                        causal),
        'qwen3_moe': of('Qwen3Moe', {**EXPERTS, 'head_dim': 8}, text, causal),
        'olmoe': of('Olmoe', EXPERTS, text, causal),
        'gemma': of('Gemma', {**GROUPED, 'head_dim': 8}, masked, causal),
        'gemma2': of('Gemma2', {**GROUPED, 'head_dim': 8, 'query_pre_attn_scalar': 8,
                                'sliding_window': 4}, masked, causal),
        'gemma3': of('Gemma3Text', {**GROUPED, 'head_dim': 8, 'query_pre_attn_scalar': 8,
                                    'sliding_window': 4}, masked),
        'phi': of('Phi', GROUPED, masked, causal),
        'phi3': of('Phi3', GROUPED, masked, causal),
        'falcon': of('Falcon', {**TEXT, 'use_cache': False, 'ffn_hidden_size': 64}, masked,
                     causal),
        'opt': of('OPT', {**TEXT, 'ffn_dim': 64, 'word_embed_proj_dim': 32, 'use_cache': False},
                  masked, causal),
        'bloom': of('Bloom', {'vocab_size': 96, 'hidden_size': 32, 'n_layer': 2, 'n_head': 4,
                              'use_cache': False}, masked, causal),
        'gpt_neox': of('GPTNeoX', {**TEXT, 'use_cache': False}, masked, causal),
        'gpt_neo': of('GPTNeo', {**TEXT, 'num_layers': 2, 'num_heads': 4, 'window_size': 4,
                                 'attention_types': [[['global', 'local'], 1]],
                                 'use_cache': False}, masked, causal),
        'gptj': of('GPTJ', {**GPT, 'rotary_dim': 4}, masked, causal),
        'codegen': of('CodeGen', {**GPT, 'rotary_dim': 4}, masked, causal),
        'gpt_bigcode': of('GPTBigCode', GPT, masked, causal),
        'olmo': of('Olmo', GROUPED, masked, causal),
        'olmo2': of('Olmo2', GROUPED, masked, causal),
        'stablelm': of('StableLm', GROUPED, masked, causal),
        'starcoder2': of('Starcoder2', GROUPED, masked, causal),
        'granite': of('Granite', GROUPED, masked, causal),
        'cohere': of('Cohere', GROUPED, masked, causal),
        'mpt': of('Mpt', {'vocab_size': 96, 'd_model': 32, 'n_layers': 2, 'n_heads': 4,
                          'max_seq_len': 64, 'use_cache': False}, masked, causal),
        'xglm': of('XGLM', {'vocab_size': 96, 'd_model': 32, 'num_layers': 2,
                            'attention_heads': 4, 'ffn_dim': 64, 'max_position_embeddings': 64,
                            'use_cache': False}, masked, causal),
        'biogpt': of('BioGpt', {**TEXT, 'use_cache': False}, masked, causal),
        'smollm3': of('SmolLM3', GROUPED, masked, causal),
        'glm4': of('Glm4', {**GROUPED, 'head_dim': 8}, masked, causal),
        'rwkv': of('Rwkv', {'vocab_size': 96, 'context_length': 32, 'hidden_size': 32,
                            'num_hidden_layers': 2, 'use_cache': False}, text),
        'mamba2': of('Mamba2', {'vocab_size': 96, 'hidden_size': 32, 'num_hidden_layers': 1,
                                'state_size': 8, 'num_heads': 8, 'head_dim': 8, 'n_groups': 2,
                                'chunk_size': 4, 'use_cache': False}, text),
        'falcon_mamba': of('FalconMamba', {'vocab_size': 96, 'hidden_size': 16,
                                           'num_hidden_layers': 1, 'state_size': 4,
                                           'use_cache': False}, text),
        'gpt_oss': of('GptOss', {**EXPERTS, 'head_dim': 8, 'sliding_window': 4}, text, causal),
        'deepseek_v3': of('DeepseekV3', {
            **EXPERTS, 'num_key_value_heads': 4, 'n_routed_experts': 4, 'n_group': 2,
            'topk_group': 1, 'first_k_dense_replace': 1, 'q_lora_rank': 16, 'kv_lora_rank': 16,
            'qk_rope_head_dim': 4, 'qk_nope_head_dim': 8, 'v_head_dim': 8}, text, causal),
    }
    return made


def encoder_decoders():
    return {
        'mt5': of('MT5', T5, pairs),
        'umt5': of('UMT5', T5, pairs),
        'longt5': of('LongT5', {**T5, 'local_radius': 4}, masked_pairs),
        'switch_transformers': of('SwitchTransformers', {**T5, 'num_decoder_layers': T5['num_layers'],
                                                         'num_experts': 4,
                                                         'num_sparse_encoder_layers': 1,
                                                         'num_sparse_decoder_layers': 1,
                                                         'tie_word_embeddings': False},
                                  masked_pairs),
        'bart': of('Bart', BART, pairs),
        'mbart': of('MBart', BART, pairs),
        'pegasus': of('Pegasus', BART, pairs),
        'marian': of('Marian', BART, pairs),
        'm2m_100': of('M2M100', BART, pairs),
        'blenderbot': of('Blenderbot', BART, pairs),
        'prophetnet': of('ProphetNet', {
            'vocab_size': 96, 'hidden_size': 32, 'num_encoder_layers': 2, 'num_decoder_layers': 2,
            'num_encoder_attention_heads': 4, 'num_decoder_attention_heads': 4,
            'encoder_ffn_dim': 64, 'decoder_ffn_dim': 64, 'max_position_embeddings': 64,
            'use_cache': False}, pairs),
    }


def vision():
    staged = {'hidden_sizes': [16, 24, 32, 48], 'depths': [1, 1, 2, 1]}
    return {
        'beit': of('Beit', {**PATCHES, 'use_relative_position_bias': True}, picture()),
        'dinov2': of('Dinov2', PATCHES, picture()),
        'dinov2_with_registers': of('Dinov2WithRegisters', PATCHES, picture()),
        'dinov3_vit': of('DINOv3ViT', PATCHES, picture()),
        'vit_mae': of('ViTMAE', {**PATCHES, 'mask_ratio': 0.0}, lambda: {
            **picture()(), 'noise': torch.rand(1, 16)}),
        'vit_msn': of('ViTMSN', PATCHES, picture()),
        'ijepa': of('IJepa', PATCHES, picture()),
        'hiera': of('Hiera', {'embed_dim': 16, 'image_size': [64, 64], 'depths': [1, 1, 2, 1],
                              'num_heads': [1, 2, 4, 8]}, picture(64)),
        'convnextv2': of('ConvNextV2', staged, picture(64)),
        'swinv2': of('Swinv2', {'image_size': 32, 'patch_size': 2, 'embed_dim': 16,
                                'depths': [2, 2], 'num_heads': [2, 4], 'window_size': 4},
                     picture()),
        'resnet': of('ResNet', {**staged, 'embedding_size': 16, 'layer_type': 'basic'},
                     picture(64)),
        'regnet': of('RegNet', {**staged, 'embedding_size': 16, 'groups_width': 8}, picture(64)),
        'bit': of('Bit', {'embedding_size': 16, 'hidden_sizes': [32, 64], 'depths': [1, 1],
                          'num_groups': 4}, picture(64)),
        'mobilenet_v1': of('MobileNetV1', {'depth_multiplier': 0.25}, picture(64)),
        'mobilenet_v2': of('MobileNetV2', {'depth_multiplier': 0.35}, picture(64)),
        'mobilevit': of('MobileViT', {'hidden_sizes': [32, 48, 64],
                                      'neck_hidden_sizes': [8, 16, 24, 32, 48, 64, 128],
                                      'intermediate_size': 32, 'image_size': 64}, picture(64)),
        'levit_hf': of('Levit', {'image_size': 64, 'hidden_sizes': [16, 24, 32],
                                 'num_attention_heads': [2, 2, 2], 'depths': [1, 1, 1],
                                 'key_dim': [8, 8, 8]}, picture(64)),
        'poolformer': of('PoolFormer', {**staged}, picture(64)),
        'pvt': of('Pvt', {'image_size': 64, 'depths': [1, 1, 1, 1],
                          'hidden_sizes': [16, 32, 32, 64], 'num_attention_heads': [1, 2, 2, 4]},
                  picture(64)),
        'cvt': of('Cvt', {'embed_dim': [16, 32, 64], 'num_heads': [1, 2, 4], 'depth': [1, 2, 3]},
                  picture(64)),
        'focalnet': of('FocalNet', {'image_size': 32, 'embed_dim': 16, 'depths': [1, 1],
                                    'focal_levels': [2, 2], 'focal_windows': [3, 3]}, picture()),
        'yolos': of('Yolos', {**PATCHES, 'image_size': [32, 32], 'num_detection_tokens': 5},
                    picture()),
        'dpt': of('DPT', {**PATCHES, 'is_hybrid': False, 'num_hidden_layers': 4,
                          'backbone_out_indices': [0, 1, 2, 3], 'image_size': 64,
                          'neck_hidden_sizes': [8, 16, 16, 16], 'fusion_hidden_size': 16},
                  picture(64), 'ForDepthEstimation'),
        'glpn': of('GLPN', {'num_encoder_blocks': 4, 'depths': [1, 1, 1, 1],
                            'hidden_sizes': [8, 16, 16, 32], 'num_attention_heads': [1, 2, 2, 4],
                            'decoder_hidden_size': 16}, picture(64), 'ForDepthEstimation'),
        'detr': detr,
        'siglip': siglip,
        'vilt': of('Vilt', {**TEXT, **PATCHES}, lambda: {
            **text(), 'pixel_values': pixels().expand(2, -1, -1, -1).contiguous()}),
        'blip': blip,
        'efficientnet_hf': REAL_MODELS['efficientnet'],
    }


def siglip():
    from transformers import SiglipConfig, SiglipModel
    vision_part = {**PATCHES}
    config = SiglipConfig(text_config={**TEXT, 'max_position_embeddings': 7,
                                       'projection_size': 32}, vision_config=vision_part)
    return SiglipModel(config), (), {**text(), **picture()()}, None


def blip():
    from transformers import BlipVisionConfig, BlipVisionModel
    return BlipVisionModel(BlipVisionConfig(**PATCHES)), (), picture()(), None


def detr():
    from transformers import DetrConfig, DetrForObjectDetection, ResNetConfig
    backbone = ResNetConfig(embedding_size=16, hidden_sizes=[16, 24, 32, 48],
                            depths=[1, 1, 1, 1], layer_type='basic', out_features=['stage4'])
    config = DetrConfig(use_timm_backbone=False, backbone_config=backbone, num_queries=5,
                        d_model=32, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=64,
                        decoder_ffn_dim=64, encoder_attention_heads=4, decoder_attention_heads=4,
                        use_pretrained_backbone=False, backbone=None, num_labels=4)
    return DetrForObjectDetection(config), (), {'pixel_values': pixels(64)}, None


def audio():
    return {
        'hubert': of('Hubert', SOUND, sound),
        'sew': of('SEW', {**SOUND, 'squeeze_factor': 2}, sound),
        'sew_d': of('SEWD', {**SOUND, 'squeeze_factor': 2, 'position_buckets': 8,
                             'max_position_embeddings': 64}, sound),
        'data2vec_audio': of('Data2VecAudio', {**SOUND, 'conv_pos_kernel_size': 3}, sound),
        'unispeech': of('UniSpeech', SOUND, sound),
        'wavlm': of('WavLM', SOUND, sound),
        'wav2vec2_conformer': of('Wav2Vec2Conformer', {**SOUND, 'conv_depthwise_kernel_size': 3},
                                 sound),
        'ast': of('AST', {**PATCHES, 'num_mel_bins': 16, 'max_length': 32},
                  lambda: {'input_values': torch.randn(1, 32, 16)}),
        'speech_to_text': of('Speech2Text', {**BART, 'conv_channels': 16,
                                             'input_feat_per_channel': 8,
                                             'max_source_positions': 40,
                                             'max_target_positions': 16},
                             lambda: {'input_features': torch.randn(1, 20, 8),
                                      'decoder_input_ids': tokens(1, 5)}),
        'encodec': of('Encodec', {'num_filters': 4, 'hidden_size': 16, 'codebook_size': 16,
                                  'codebook_dim': 16, 'upsampling_ratios': [4, 2],
                                  'num_lstm_layers': 1, 'target_bandwidths': [24.0]},
                      lambda: {'input_values': torch.randn(1, 1, 160)}),
    }


OF_TIMM = ('mobilenetv3', 'resnet', 'coatnet', 'levit', 'unet', 'efficientnet')
MODELS = {**{name: make for name, make in REAL_MODELS.items() if name not in OF_TIMM},
          **encoders(), **decoders(), **encoder_decoders(), **vision(), **audio()}
