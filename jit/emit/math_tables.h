// Tables and polynomials of vector_math.cpp. Made by
// tools/fit_math_tables.py, which describes the method; not edited by hand.
#pragma once

// clang-format off
namespace fxjit::jit {

// A function on u >= 0 in kEntries intervals, the k-th around k * step: there
// it is the polynomial in t = u - k * step whose coefficient of t^p is
// coefficients[p][k]. `step` has so few bits that k * step is exact. The last
// interval is the constant limit.
template <int kEntries, int kDegree>
struct SmoothTable {
  const char* name;
  float step;
  float coefficients[kDegree + 1][kEntries];
};

inline constexpr SmoothTable<16, 5> kGelu16 = {
    "Gelu16",
    0x1.7cp-2f,
    {
      {0.0f, 0x1.0e0406p-3f, 0x1.5c0f6p-3f, 0x1.2ec51cp-3f,
       0x1.a2a304p-4f, 0x1.e2d2a4p-5f, 0x1.d9cfd4p-6f, 0x1.8f7a74p-7f,
       0x1.22e16ap-8f, 0x1.6ef464p-10f, 0x1.91c0cep-12f, 0x1.7e2e1ep-14f,
       0x1.3c23a2p-16f, 0x1.c70abcp-19f, 0x1.1d078p-21f, 0.0f},
      {0x1p-1f, 0x1.bc997cp-3f, 0x1.11eebp-8f, -0x1.b2fd1p-4f,
       -0x1.0601d2p-3f, -0x1.9c1052p-4f, -0x1.f7b674p-5f, -0x1.f8bb2p-6f,
       -0x1.a84842p-7f, -0x1.2eda22p-8f, -0x1.71bf84p-10f, -0x1.83ce7ap-12f,
       -0x1.5e7f04p-14f, -0x1.118e5ap-16f, -0x1.7155b8p-19f, 0.0f},
      {-0x1.98841cp-2f, -0x1.63130ap-2f, -0x1.c17cbep-3f, -0x1.4e6d6p-4f,
       0x1.b9a7f6p-7f, 0x1.a59334p-5f, 0x1.95387p-5f, 0x1.09c5bp-5f,
       0x1.0f8e9ep-6f, 0x1.c4b5ep-8f, 0x1.3aa8d2p-9f, 0x1.713ad8p-11f,
       0x1.708414p-13f, 0x1.3a6d36p-15f, 0x1.cc52ccp-18f, 0.0f},
      {-0x1.68061ep-15f, 0x1.6c50ccp-4f, 0x1.08aa6ep-3f, 0x1.c265c8p-4f,
       0x1.e2d606p-5f, 0x1.92e21ep-7f, -0x1.85788p-7f, -0x1.0a5f2ap-6f,
       -0x1.7bb2b4p-7f, -0x1.89e62p-8f, -0x1.431ccp-9f, -0x1.b1e9bep-11f,
       -0x1.e5b78cp-13f, -0x1.ca2916p-15f, -0x1.6ec4a4p-17f, 0.0f},
      {0x1.1333a8p-4f, 0x1.81f226p-5f, 0x1.7ca136p-8f, -0x1.c55e7ep-6f,
       -0x1.275df8p-5f, -0x1.90ee84p-6f, -0x1.1a9542p-7f, 0x1.3eeb88p-10f,
       0x1.0698c6p-8f, 0x1.9e2dbcp-9f, 0x1.b3415p-10f, 0x1.5df988p-11f,
       0x1.c4a55ap-13f, 0x1.e28326p-15f, 0x1.adf8f8p-17f, 0.0f},
      {-0x1.25a89ap-8f, -0x1.3094fap-6f, -0x1.75b21ep-6f, -0x1.809b04p-7f,
       0x1.e9b354p-10f, 0x1.1ea216p-7f, 0x1.e4591ap-8f, 0x1.a10308p-9f,
       0x1.763f4cp-13f, -0x1.abb206p-11f, -0x1.7265aep-11f, -0x1.82ce7ap-12f,
       -0x1.2b9604p-13f, -0x1.6f56eap-15f, -0x1.6f864cp-17f, 0.0f},
    }};

inline constexpr SmoothTable<32, 4> kGelu32 = {
    "Gelu32",
    0x1.7p-3f,
    {
      {0.0f, 0x1.3b85bep-4f, 0x1.08b53p-3f, 0x1.4598p-3f,
       0x1.5b9beep-3f, 0x1.536fa8p-3f, 0x1.36331ep-3f, 0x1.0c7ef6p-3f,
       0x1.bb4bbp-4f, 0x1.5e88ecp-4f, 0x1.0a44a4p-4f, 0x1.855878p-5f,
       0x1.125bcap-5f, 0x1.750bf6p-6f, 0x1.e9bc1ep-7f, 0x1.368b78p-7f,
       0x1.7ca05p-8f, 0x1.c305d8p-9f, 0x1.02689cp-9f, 0x1.1e669ap-10f,
       0x1.3312ccp-11f, 0x1.3e8b4ap-12f, 0x1.3fbebep-13f, 0x1.369676p-14f,
       0x1.23f936p-15f, 0x1.09a622p-16f, 0x1.d3e058p-18f, 0x1.8ed0a2p-19f,
       0x1.490f6cp-20f, 0x1.06d1a8p-21f, 0x1.966738p-23f, 0.0f},
      {0x1p-1f, 0x1.6ec20ap-2f, 0x1.cd5192p-3f, 0x1.be4212p-4f,
       0x1.e10f58p-7f, -0x1.c1e8cep-5f, -0x1.99c91cp-4f, -0x1.f8e8d4p-4f,
       -0x1.07c4dcp-3f, -0x1.f1f2c8p-4f, -0x1.b42a1ep-4f, -0x1.6778fep-4f,
       -0x1.19049ap-4f, -0x1.a2e45cp-5f, -0x1.2aac88p-5f, -0x1.986fdep-6f,
       -0x1.0c4784p-6f, -0x1.53031ep-7f, -0x1.9c7ea6p-8f, -0x1.e3a94p-9f,
       -0x1.116b62p-9f, -0x1.2a3d84p-10f, -0x1.39fb8cp-11f, -0x1.3f2756p-12f,
       -0x1.394ffcp-13f, -0x1.292188p-14f, -0x1.1045ccp-15f, -0x1.e23b8p-17f,
       -0x1.9cc6c8p-18f, -0x1.55901ep-19f, -0x1.1142ccp-20f, 0.0f},
      {-0x1.988464p-2f, -0x1.8b7b9p-2f, -0x1.663df4p-2f, -0x1.2df212p-2f,
       -0x1.d40c36p-3f, -0x1.45763cp-3f, -0x1.7ebb02p-4f, -0x1.359c5p-5f,
       0x1.3515f2p-8f, 0x1.0fea78p-5f, 0x1.8f967p-5f, 0x1.b9cc9cp-5f,
       0x1.a7771ap-5f, 0x1.710232p-5f, 0x1.2ad186p-5f, 0x1.c728a8p-6f,
       0x1.48676cp-6f, 0x1.c31a74p-7f, 0x1.27e6bp-7f, 0x1.73a332p-8f,
       0x1.bfa95ap-9f, 0x1.02f19ap-9f, 0x1.20049cp-10f, 0x1.3447d2p-11f,
       0x1.3dc0a4p-12f, 0x1.3b94aap-13f, 0x1.2e26eap-14f, 0x1.1701d8p-15f,
       0x1.f12004p-17f, 0x1.ab6aecp-18f, 0x1.62c03p-19f, 0.0f},
      {0x1.f4d542p-17f, 0x1.7d6bep-5f, 0x1.62739ap-4f, 0x1.d60cccp-4f,
       0x1.06d9fep-3f, 0x1.0483a2p-3f, 0x1.d177fep-4f, 0x1.7752e8p-4f,
       0x1.0d65ap-4f, 0x1.4a473ep-5f, 0x1.2db1d4p-6f, 0x1.df3212p-10f,
       -0x1.27ed76p-7f, -0x1.e256fp-7f, -0x1.0ce7bcp-6f, -0x1.fa783ap-7f,
       -0x1.ac49cap-7f, -0x1.4e149ep-7f, -0x1.e7aacep-8f, -0x1.4fe524p-8f,
       -0x1.b70ebp-9f, -0x1.1156d8p-9f, -0x1.45175ep-10f, -0x1.72196p-11f,
       -0x1.93f2d8p-12f, -0x1.a73dacp-13f, -0x1.aa22d6p-14f, -0x1.9ca36p-15f,
       -0x1.808e3p-16f, -0x1.591f26p-17f, -0x1.2a6ba6p-18f, 0.0f},
      {0x1.0f7812p-4f, 0x1.f5f49ep-5f, 0x1.8f1e7ep-5f, 0x1.e4a206p-6f,
       0x1.137cb2p-7f, -0x1.6bb4ep-7f, -0x1.a8ca42p-6f, -0x1.19789p-5f,
       -0x1.2ea172p-5f, -0x1.11fbfap-5f, -0x1.b9b1b4p-6f, -0x1.386014p-6f,
       -0x1.733406p-7f, -0x1.3dac6p-8f, -0x1.a62684p-13f, 0x1.533148p-9f,
       0x1.f70316p-9f, 0x1.075bc2p-8f, 0x1.d3e10ap-9f, 0x1.75bf2cp-9f,
       0x1.12f062p-9f, 0x1.7a2278p-10f, 0x1.ea3e7p-11f, 0x1.2d007cp-11f,
       0x1.5fef0ep-12f, 0x1.887648p-13f, 0x1.a266e6p-14f, 0x1.ab3ed2p-15f,
       0x1.a27ad4p-16f, 0x1.8984bap-17f, 0x1.6393dcp-18f, 0.0f},
    }};

inline constexpr SmoothTable<16, 5> kGeluTanh16 = {
    "GeluTanh16",
    0x1.68p-2f,
    {
      {0.0f, 0x1.0511cp-3f, 0x1.5b2394p-3f, 0x1.3b3ec2p-3f,
       0x1.ccbe2ap-4f, 0x1.1bff94p-4f, 0x1.2c111cp-5f, 0x1.10660ap-6f,
       0x1.a6aa26p-8f, 0x1.155c26p-9f, 0x1.2fc1dcp-11f, 0x1.11552ap-13f,
       0x1.8d8736p-16f, 0x1.cb431ap-19f, 0x1.9e24d6p-22f, 0.0f},
      {0x1p-1f, 0x1.d8a5f6p-3f, 0x1.6b5112p-6f, -0x1.85b2f6p-4f,
       -0x1.081d42p-3f, -0x1.c631cp-4f, -0x1.308e2cp-4f, -0x1.4fe88ep-5f,
       -0x1.352ca6p-6f, -0x1.da531p-8f, -0x1.2c71dep-9f, -0x1.361f3p-11f,
       -0x1.00d4dep-13f, -0x1.4fbbeep-16f, -0x1.548992p-19f, 0.0f},
      {-0x1.988426p-2f, -0x1.6819bap-2f, -0x1.dfb63ap-3f, -0x1.a0b344p-4f,
       -0x1.4d9692p-9f, 0x1.7657dap-5f, 0x1.b2bef2p-5f, 0x1.47e6a2p-5f,
       0x1.7cde54p-6f, 0x1.62de84p-7f, 0x1.0b017ep-8f, 0x1.426652p-10f,
       0x1.34a6acp-12f, 0x1.cdd4e8p-15f, 0x1.09cd7cp-17f, 0.0f},
      {-0x1.37e9a4p-15f, 0x1.5e0158p-4f, 0x1.05cbe2p-3f, 0x1.d88df8p-4f,
       0x1.1ed0c6p-4f, 0x1.7ed326p-6f, -0x1.83fcdp-8f, -0x1.07f4c2p-6f,
       -0x1.da2216p-7f, -0x1.24dc8ap-7f, -0x1.12ef8ap-8f, -0x1.90ebap-10f,
       -0x1.c5c9f4p-12f, -0x1.8b2ee8p-14f, -0x1.0587cp-16f, 0.0f},
      {0x1.144f6p-4f, 0x1.90aed8p-5f, 0x1.3ed936p-7f, -0x1.8bb924p-6f,
       -0x1.24bcfap-5f, -0x1.cad1ecp-6f, -0x1.bb5d5ap-7f, -0x1.0f1e48p-9f,
       0x1.ada9b2p-9f, 0x1.032502p-8f, 0x1.599a74p-9f, 0x1.45a492p-10f,
       0x1.c791ap-12f, 0x1.ddc65p-14f, 0x1.765e96p-16f, 0.0f},
      {-0x1.1c5906p-8f, -0x1.2a7e74p-6f, -0x1.7d6c12p-6f, -0x1.bca1aap-7f,
       0x1.912478p-16f, 0x1.f3017p-8f, 0x1.05f256p-7f, 0x1.39a7eap-8f,
       0x1.8051b4p-10f, -0x1.bc5afep-12f, -0x1.d359d6p-11f, -0x1.4f5882p-11f,
       -0x1.358b3p-12f, -0x1.92d7e6p-14f, -0x1.7a4976p-16f, 0.0f},
    }};

inline constexpr SmoothTable<32, 4> kGeluTanh32 = {
    "GeluTanh32",
    0x1.5cp-3f,
    {
      {0.0f, 0x1.2d0bc6p-4f, 0x1.fedcd6p-4f, 0x1.3e9206p-3f,
       0x1.59cec6p-3f, 0x1.5853acp-3f, 0x1.41d3d6p-3f, 0x1.1dc34cp-3f,
       0x1.e5734cp-4f, 0x1.8c16c2p-4f, 0x1.373bb8p-4f, 0x1.d7bcaep-5f,
       0x1.590eecp-5f, 0x1.e74c4ep-6f, 0x1.4c10bep-6f, 0x1.b4797ap-7f,
       0x1.146564p-7f, 0x1.50e40cp-8f, 0x1.8aa446p-9f, 0x1.bb9dfap-10f,
       0x1.ddbc52p-11f, 0x1.ec0546p-12f, 0x1.e3bc0ap-13f, 0x1.c527fep-14f,
       0x1.93b7bap-15f, 0x1.5564c8p-16f, 0x1.117b9ep-17f, 0x1.9e429p-19f,
       0x1.280bc2p-20f, 0x1.8e743ep-22f, 0x1.f7feap-24f, 0.0f},
      {0x1p-1f, 0x1.76809ep-2f, 0x1.e99992p-3f, 0x1.0361b8p-3f,
       0x1.1153dp-5f, -0x1.388724p-5f, -0x1.66a17p-4f, -0x1.dd53b2p-4f,
       -0x1.06a68cp-3f, -0x1.036decp-3f, -0x1.db0c9ep-4f, -0x1.999214p-4f,
       -0x1.4f66f8p-4f, -0x1.062d02p-4f, -0x1.8852bep-5f, -0x1.195ce2p-5f,
       -0x1.8301a8p-6f, -0x1.fe5be2p-7f, -0x1.426858p-7f, -0x1.85dc02p-8f,
       -0x1.c29744p-9f, -0x1.f10564p-10f, -0x1.052e92p-10f, -0x1.051784p-11f,
       -0x1.ef9cbcp-13f, -0x1.bdc8bep-14f, -0x1.7b45bcp-15f, -0x1.30a478p-16f,
       -0x1.cd23a2p-18f, -0x1.4838fep-19f, -0x1.b6898ep-21f, 0.0f},
      {-0x1.988462p-2f, -0x1.8ccae6p-2f, -0x1.6b242ap-2f, -0x1.37cff4p-2f,
       -0x1.f20d38p-3f, -0x1.6b9768p-3f, -0x1.d3402ep-4f, -0x1.db903p-5f,
       -0x1.a5653ep-7f, 0x1.488d92p-6f, 0x1.4fd83ap-5f, 0x1.a61068p-5f,
       0x1.b975dap-5f, 0x1.9e5096p-5f, 0x1.677cb6p-5f, 0x1.2497b8p-5f,
       0x1.c23202p-6f, 0x1.48aefcp-6f, 0x1.c85b18p-7f, 0x1.2d70eep-7f,
       0x1.7ad7aap-8f, 0x1.c49db4p-9f, 0x1.00c04ep-9f, 0x1.143e0ap-10f,
       0x1.196f96p-11f, 0x1.0f11f6p-12f, 0x1.ecd258p-14f, 0x1.a611f2p-15f,
       0x1.53f374p-16f, 0x1.01087p-17f, 0x1.6c30cp-19f, 0.0f},
      {0x1.c5029cp-17f, 0x1.6ad9fp-5f, 0x1.53e02ap-4f, 0x1.c7e4d6p-4f,
       0x1.034abcp-3f, 0x1.070568p-3f, 0x1.e564c2p-4f, 0x1.99a07ap-4f,
       0x1.3a66e6p-4f, 0x1.ae2fcep-5f, 0x1.efd852p-6f, 0x1.8662dap-7f,
       -0x1.b2eb1ap-10f, -0x1.566cb4p-7f, -0x1.edc24p-7f, -0x1.0d3058p-6f,
       -0x1.fd9a2p-7f, -0x1.b6282cp-7f, -0x1.5d06p-7f, -0x1.041bdcp-7f,
       -0x1.6c7a72p-8f, -0x1.e14864p-9f, -0x1.2bb15ep-9f, -0x1.600326p-10f,
       -0x1.85ba32p-11f, -0x1.965468p-12f, -0x1.8e78e4p-13f, -0x1.6f0fb6p-14f,
       -0x1.3d25a8p-15f, -0x1.009f3ep-16f, -0x1.844b88p-18f, 0.0f},
      {0x1.10dedep-4f, 0x1.00389ep-4f, 0x1.9e4d4cp-5f, 0x1.0903fcp-5f,
       0x1.9da9ap-7f, -0x1.b0317cp-8f, -0x1.64e5d2p-6f, -0x1.018dbep-5f,
       -0x1.29055ep-5f, -0x1.1e25fp-5f, -0x1.ef95a2p-6f, -0x1.82fe66p-6f,
       -0x1.0b61d6p-6f, -0x1.3d9a54p-7f, -0x1.0e89eep-8f, -0x1.a37c8cp-14f,
       0x1.42387cp-9f, 0x1.ee1aaap-9f, 0x1.0d28ep-8f, 0x1.f264d2p-9f,
       0x1.9dc6dep-9f, 0x1.3ab9ccp-9f, 0x1.bb8958p-10f, 0x1.22d8dap-10f,
       0x1.642a5ap-11f, 0x1.978362p-12f, 0x1.b3e496p-13f, 0x1.b3a45p-14f,
       0x1.968d3p-15f, 0x1.62003ap-16f, 0x1.1f3216p-17f, 0.0f},
    }};

inline constexpr SmoothTable<16, 6> kTanh16 = {
    "Tanh16",
    0x1.38p-1f,
    {
      {0.0f, 0x1.165e28p-1f, 0x1.adb6c6p-1f, 0x1.e63784p-1f,
       0x1.f83dacp-1f, 0x1.fdb1b2p-1f, 0x1.ff513ap-1f, 0x1.ffcc5p-1f,
       0x1.fff0b8p-1f, 0x1.fffb7cp-1f, 0x1.fffeaap-1f, 0x1.ffff9ap-1f,
       0x1.ffffe2p-1f, 0x1.fffff8p-1f, 0x1.fffffep-1f, 0x1p+0f},
      {0x1p+0f, 0x1.68a7f8p-1f, 0x1.2eb1dcp-2f, 0x1.9224a2p-4f,
       0x1.ecd1c2p-6f, 0x1.267d5p-7f, 0x1.5d4f9ep-9f, 0x1.9d69aep-11f,
       0x1.e8f448p-13f, 0x1.2117cap-14f, 0x1.55d4c4p-16f, 0x1.942eeap-18f,
       0x1.dde808p-20f, 0x1.1a89b2p-21f, 0x1.4e127ep-23f, 0.0f},
      {-0x1.68516cp-19f, -0x1.882e36p-2f, -0x1.fc18e4p-3f, -0x1.7de218p-4f,
       -0x1.e55afcp-6f, -0x1.255538p-7f, -0x1.5c92dap-9f, -0x1.9cb34ap-11f,
       -0x1.e73a62p-13f, -0x1.2a75dep-14f, -0x1.45cb72p-16f, -0x1.32a4b6p-21f,
       -0x1.15342cp-20f, -0x1.6153e2p-18f, -0x1.e8a8e8p-19f, 0.0f},
      {-0x1.5533c2p-2f, -0x1.b6d52ap-6f, 0x1.c16314p-4f, 0x1.c943f6p-5f,
       0x1.39b87cp-6f, 0x1.835904p-8f, 0x1.cfde02p-10f, 0x1.1342f2p-11f,
       0x1.45d36ep-13f, 0x1.8161b8p-15f, 0x1.c7b818p-17f, 0x1.0d6d74p-18f,
       0x1.3e92e4p-20f, 0x1.78aed4p-22f, 0x1.bd63p-24f, 0.0f},
      {-0x1.054dcep-9f, 0x1.23c08p-3f, -0x1.31a586p-7f, -0x1.6813a2p-6f,
       -0x1.262524p-7f, -0x1.690674p-9f, -0x1.ec4ef2p-11f, -0x1.32403ep-12f,
       -0x1.a5524ep-14f, 0x1.58d34ep-15f, -0x1.1eb47p-15f, -0x1.4bdc9ap-13f,
       -0x1.7172acp-16f, 0x1.1c702ap-13f, 0x1.a2b86ep-14f, 0.0f},
      {0x1.2d1338p-3f, -0x1.8a449p-5f, -0x1.752db2p-6f, 0x1.14634ap-8f,
       0x1.9b5f26p-9f, 0x1.274dc2p-10f, 0x1.70808cp-12f, 0x1.bbb7ap-14f,
       0x1.07bea2p-15f, 0x1.384d86p-17f, 0x1.716656p-19f, 0x1.b4e286p-21f,
       0x1.02468ap-22f, 0x1.315a06p-24f, 0x1.6923a4p-26f, 0.0f},
      {-0x1.6416aap-5f, -0x1.e91eccp-6f, 0x1.030656p-6f, 0x1.7f22c8p-10f,
       -0x1.9d29ap-11f, -0x1.6df54cp-10f, 0x1.4081bcp-12f, 0x1.78b84ap-13f,
       0x1.41199ep-13f, -0x1.e53f14p-12f, 0x1.9a1f32p-13f, 0x1.25c0acp-10f,
       0x1.423574p-13f, -0x1.fed0aap-11f, -0x1.77b042p-11f, 0.0f},
    }};

inline constexpr SmoothTable<32, 5> kTanh32 = {
    "Tanh32",
    0x1.2ep-2f,
    {
      {0.0f, 0x1.2589d2p-2f, 0x1.0f3fbep-1f, 0x1.6ae7acp-1f,
       0x1.a79ad2p-1f, 0x1.cd083p-1f, 0x1.e31a0ap-1f, 0x1.efc63cp-1f,
       0x1.f6f0b8p-1f, 0x1.faf512p-1f, 0x1.fd32b8p-1f, 0x1.fe71d8p-1f,
       0x1.ff231cp-1f, 0x1.ff857cp-1f, 0x1.ffbc1p-1f, 0x1.ffda54p-1f,
       0x1.ffeb1ep-1f, 0x1.fff46cp-1f, 0x1.fff994p-1f, 0x1.fffc7p-1f,
       0x1.fffe06p-1f, 0x1.fffee8p-1f, 0x1.ffff64p-1f, 0x1.ffffaap-1f,
       0x1.ffffdp-1f, 0x1.ffffe6p-1f, 0x1.fffff2p-1f, 0x1.fffff8p-1f,
       0x1.fffffcp-1f, 0x1.fffffep-1f, 0x1.fffffep-1f, 0x1p+0f},
      {0x1p+0f, 0x1.d5ed6cp-1f, 0x1.704bfcp-1f, 0x1.fd8bfep-2f,
       0x1.430f02p-2f, 0x1.837302p-3f, 0x1.c152f4p-4f, 0x1.fefe5ap-5f,
       0x1.1f585ep-5f, 0x1.4124b6p-6f, 0x1.65a92p-7f, 0x1.8d8d8ap-8f,
       0x1.b96a3cp-9f, 0x1.e9d22ap-10f, 0x1.0fad3cp-10f, 0x1.2d4ffp-11f,
       0x1.4e256ep-12f, 0x1.728972p-13f, 0x1.9ae0b8p-14f, 0x1.c79a4ap-15f,
       0x1.f930e8p-16f, 0x1.18163ap-16f, 0x1.3691b8p-17f, 0x1.585e54p-18f,
       0x1.7dd886p-19f, 0x1.a766c8p-20f, 0x1.d57ac2p-21f, 0x1.044938p-21f,
       0x1.209cc6p-22f, 0x1.40058p-23f, 0x1.62d946p-24f, 0.0f},
      {0x1.7b6c1ep-21f, -0x1.0d65d2p-2f, -0x1.8637eep-2f, -0x1.692e4p-2f,
       -0x1.0b4abep-2f, -0x1.5ce004p-3f, -0x1.a7fb6ep-4f, -0x1.eed0dap-5f,
       -0x1.1a413ap-5f, -0x1.3e07e4p-6f, -0x1.63f1fep-7f, -0x1.8c97eap-8f,
       -0x1.b9c22cp-9f, -0x1.e714ecp-10f, -0x1.0f0236p-10f, -0x1.29af88p-11f,
       -0x1.56ca76p-12f, -0x1.7c3192p-13f, -0x1.86736p-14f, -0x1.806b58p-15f,
       -0x1.66ae3cp-16f, -0x1.2816e2p-16f, -0x1.92ec9p-20f, -0x1.9b7cep-18f,
       0x1.420674p-24f, -0x1.ba86dap-18f, -0x1.119a1p-17f, -0x1.04079p-19f,
       -0x1.84e59p-18f, -0x1.76046p-18f, 0x1.b93984p-18f, 0.0f},
      {-0x1.556092p-2f, -0x1.d82fecp-3f, -0x1.362ca8p-5f, 0x1.589468p-4f,
       0x1.c5cecp-4f, 0x1.72021ep-4f, 0x1.f485f8p-5f, 0x1.34c9cp-5f,
       0x1.6af8c2p-6f, 0x1.9f9a78p-7f, 0x1.d5129ep-8f, 0x1.069f9cp-8f,
       0x1.24ca1ap-9f, 0x1.45a1dcp-10f, 0x1.69ab6cp-11f, 0x1.9166e4p-12f,
       0x1.bd4f7ap-13f, 0x1.edeb5p-14f, 0x1.11e052p-14f, 0x1.2fb4fep-15f,
       0x1.50c6b2p-16f, 0x1.756f62p-17f, 0x1.9e14cap-18f, 0x1.cb2798p-19f,
       0x1.fd1e9ep-20f, 0x1.1a440ep-20f, 0x1.38fbaap-21f, 0x1.5b0c8p-22f,
       0x1.80d176p-23f, 0x1.aab186p-24f, 0x1.d921cap-25f, 0.0f},
      {0x1.9451b4p-11f, 0x1.3630eap-3f, 0x1.2a6668p-3f, 0x1.e2693ap-5f,
       -0x1.ffce82p-9f, -0x1.914d4cp-6f, -0x1.772c52p-6f, -0x1.0acf52p-6f,
       -0x1.52608cp-7f, -0x1.86adbp-8f, -0x1.9f7ee6p-9f, -0x1.dab0cep-10f,
       -0x1.7fa8dep-11f, -0x1.0b5a0ap-10f, -0x1.cababap-12f, -0x1.06f5cep-11f,
       0x1.1f87c4p-12f, 0x1.40d092p-13f, -0x1.0c6cdcp-12f, -0x1.ab409p-12f,
       -0x1.aeb448p-12f, 0x1.406294p-15f, -0x1.785b46p-12f, 0x1.7297c6p-15f,
       -0x1.1afabep-13f, 0x1.e1aa44p-13f, 0x1.5df1cep-12f, 0x1.16e06cp-14f,
       0x1.09cc6cp-12f, 0x1.04ef5cp-12f, -0x1.4058dcp-12f, 0.0f},
      {0x1.079338p-3f, 0x1.bf8416p-5f, -0x1.96cf46p-5f, -0x1.d96b06p-5f,
       -0x1.acabep-6f, -0x1.03935p-8f, 0x1.f88db6p-9f, 0x1.313238p-8f,
       0x1.c8b1fep-9f, 0x1.255458p-9f, 0x1.5f49cp-10f, 0x1.95c12ap-11f,
       0x1.cc2a3ap-12f, 0x1.0227dp-12f, 0x1.209154p-13f, 0x1.40f3f4p-14f,
       0x1.65051cp-15f, 0x1.8b8de2p-16f, 0x1.b78112p-17f, 0x1.e7c708p-18f,
       0x1.0e59e8p-18f, 0x1.2c0382p-19f, 0x1.4cb3eep-20f, 0x1.702c68p-21f,
       0x1.9901d8p-22f, 0x1.c4ff76p-23f, 0x1.f6b0aep-24f, 0x1.162e5ap-24f,
       0x1.34612p-25f, 0x1.5666cap-26f, 0x1.7b6144p-27f, 0.0f},
    }};

inline constexpr SmoothTable<16, 6> kErf16 = {
    "Erf16",
    0x1.1p-2f,
    {
      {0.0f, 0x1.2bd9dcp-2f, 0x1.1855a6p-1f, 0x1.7b0058p-1f,
       0x1.bbef1p-1f, 0x1.e11a3ep-1f, 0x1.f39bc2p-1f, 0x1.fb9f6p-1f,
       0x1.fea422p-1f, 0x1.ffa14ap-1f, 0x1.ffe96ap-1f, 0x1.fffb4ap-1f,
       0x1.ffff24p-1f, 0x1.ffffdep-1f, 0x1.fffffcp-1f, 0x1p+0f},
      {0x1.20dd76p+0f, 0x1.0d2fa6p+0f, 0x1.b3aafcp-1f, 0x1.32281ep-1f,
       0x1.75a91ap-2f, 0x1.8c0732p-3f, 0x1.6c7e64p-4f, 0x1.2351c2p-5f,
       0x1.94624ep-7f, 0x1.e7744ap-9f, 0x1.fe41d2p-11f, 0x1.cfd4bp-13f,
       0x1.6e237cp-15f, 0x1.f5f81p-18f, 0x1.2acf1ep-20f, 0.0f},
      {-0x1.6ea1bep-16f, -0x1.1e052ep-2f, -0x1.cee5cp-2f, -0x1.e7f374p-2f,
       -0x1.8d05acp-2f, -0x1.06f872p-2f, -0x1.22709cp-3f, -0x1.0eecc4p-4f,
       -0x1.ade0e6p-6f, -0x1.24097cp-7f, -0x1.50fc3cp-9f, -0x1.50c772p-11f,
       -0x1.164eb6p-13f, -0x1.cf5ea6p-15f, -0x1.f5f5fep-16f, 0.0f},
      {-0x1.7fceap-2f, -0x1.3448fap-2f, -0x1.f9fec6p-4f, 0x1.b8e6d8p-5f,
       0x1.395536p-3f, 0x1.4db314p-3f, 0x1.efba32p-4f, 0x1.1f2cccp-4f,
       0x1.0ea518p-5f, 0x1.a7af36p-7f, 0x1.16bf88p-8f, 0x1.36a492p-10f,
       0x1.26b4e8p-12f, 0x1.ddc502p-15f, 0x1.4bca08p-17f, 0.0f},
      {-0x1.c66092p-6f, 0x1.12fa82p-3f, 0x1.77e262p-3f, 0x1.1d7534p-3f,
       0x1.92217p-5f, -0x1.9afcccp-6f, -0x1.9c755cp-5f, -0x1.469884p-5f,
       -0x1.8ea57ap-6f, -0x1.2eb2b2p-7f, -0x1.c5d08ap-8f, -0x1.136916p-9f,
       -0x1.67070cp-10f, 0x1.1cd226p-8f, 0x1.fb6d0cp-9f, 0.0f},
      {0x1.6879f6p-2f, 0x1.3bbb9ap-4f, -0x1.fdb258p-10f, -0x1.e8fefcp-5f,
       -0x1.0f0e5p-4f, -0x1.2e6df4p-5f, -0x1.511aaep-8f, 0x1.657562p-7f,
       0x1.97de2ap-7f, 0x1.08813ap-7f, 0x1.f5d7dap-9f, 0x1.76893p-10f,
       0x1.c6791p-12f, 0x1.c85592p-14f, 0x1.7f6616p-16f, 0.0f},
      {-0x1.73be32p-1f, -0x1.466d46p-4f, -0x1.986a9p-5f, -0x1.84efdep-4f,
       -0x1.00189cp-5f, 0x1.dc49d6p-4f, 0x1.ee0828p-5f, -0x1.e6cc52p-4f,
       -0x1.412ac8p-4f, -0x1.01f0fep-3f, 0x1.41eee8p-4f, 0x1.5a055ap-6f,
       0x1.288842p-5f, -0x1.573476p-3f, -0x1.2cb836p-3f, 0.0f},
    }};

inline constexpr SmoothTable<32, 4> kErf32 = {
    "Erf32",
    0x1.08p-3f,
    {
      {0.0f, 0x1.284012p-3f, 0x1.236bfp-2f, 0x1.a98722p-2f,
       0x1.117894p-1f, 0x1.46a414p-1f, 0x1.73b102p-1f, 0x1.989e3cp-1f,
       0x1.b5e63p-1f, 0x1.cc5c5ap-1f, 0x1.dd0788p-1f, 0x1.e8fef4p-1f,
       0x1.f14e82p-1f, 0x1.f6e3eep-1f, 0x1.fa84fep-1f, 0x1.fccd2ap-1f,
       0x1.fe308p-1f, 0x1.ff0198p-1f, 0x1.ff789ep-1f, 0x1.ffba2cp-1f,
       0x1.ffdd18p-1f, 0x1.ffef16p-1f, 0x1.fff81p-1f, 0x1.fffc64p-1f,
       0x1.fffe68p-1f, 0x1.ffff52p-1f, 0x1.ffffb8p-1f, 0x1.ffffe4p-1f,
       0x1.fffff4p-1f, 0x1.fffffcp-1f, 0x1.fffffep-1f, 0x1p+0f},
      {0x1.20dd74p+0f, 0x1.1c1ac6p+0f, 0x1.0e4a02p+0f, 0x1.f17ae2p-1f,
       0x1.bada5ap-1f, 0x1.7d568cp-1f, 0x1.3da274p-1f, 0x1.ffd95cp-2f,
       0x1.8eed44p-2f, 0x1.2cc0fp-2f, 0x1.b6a856p-3f, 0x1.3570c6p-3f,
       0x1.a64de6p-4f, 0x1.16bf4ep-4f, 0x1.63f3f6p-5f, 0x1.b7af4cp-6f,
       0x1.06ae14p-6f, 0x1.2f9af6p-7f, 0x1.536fc2p-8f, 0x1.6f177cp-9f,
       0x1.8005fp-10f, 0x1.849a4cp-11f, 0x1.7c629ap-12f, 0x1.682b6p-13f,
       0x1.49dfeep-14f, 0x1.2441bap-15f, 0x1.f4edcap-17f, 0x1.9f438p-18f,
       0x1.4cfeeap-19f, 0x1.024c2p-20f, 0x1.839cc6p-22f, 0.0f},
      {0x1.698c7p-16f, -0x1.24f79p-3f, -0x1.16bcd8p-2f, -0x1.80c43p-2f,
       -0x1.c8bafap-2f, -0x1.eb92dep-2f, -0x1.eb5692p-2f, -0x1.cddf8ap-2f,
       -0x1.9b65aap-2f, -0x1.5ce65ap-2f, -0x1.1abdb8p-2f, -0x1.b6bb2cp-3f,
       -0x1.469f28p-3f, -0x1.d32d72p-4f, -0x1.411caep-4f, -0x1.a941a8p-5f,
       -0x1.0f42aap-5f, -0x1.4d4ebap-6f, -0x1.888482p-7f, -0x1.c3aef8p-8f,
       -0x1.f407b2p-9f, -0x1.013a7cp-9f, -0x1.0e0996p-10f, -0x1.0be8a2p-11f,
       -0x1.8c624ap-13f, -0x1.8a5a9cp-14f, -0x1.381264p-15f, -0x1.0718cep-14f,
       0x1.51987p-15f, -0x1.cc5904p-17f, 0x1.b347c6p-16f, 0.0f},
      {-0x1.8262dp-2f, -0x1.6db01cp-2f, -0x1.38195cp-2f, -0x1.d08b4ep-3f,
       -0x1.149a16p-3f, -0x1.58ed3p-5f, 0x1.4a945p-5f, 0x1.abe8f8p-4f,
       0x1.2b177ep-3f, 0x1.52dcc2p-3f, 0x1.537106p-3f, 0x1.3780f8p-3f,
       0x1.0a6212p-3f, 0x1.acf6e4p-4f, 0x1.4731p-4f, 0x1.dae96cp-5f,
       0x1.48ebf4p-5f, 0x1.b3cfdcp-6f, 0x1.149f78p-6f, 0x1.50e9e6p-7f,
       0x1.8a1848p-8f, 0x1.bb6d6ep-9f, 0x1.df8b44p-10f, 0x1.f311b4p-11f,
       0x1.f5a4ep-12f, 0x1.e4a24p-13f, 0x1.c34666p-14f, 0x1.951e9cp-15f,
       0x1.5eb2p-16f, 0x1.24d36ap-17f, 0x1.d7ca0ap-19f, 0.0f},
      {0x1.5b5e14p-6f, 0x1.1a640cp-4f, 0x1.09cba8p-3f, 0x1.58d9d4p-3f,
       0x1.8626c4p-3f, 0x1.64d6eep-3f, 0x1.26573ep-3f, 0x1.ac806cp-4f,
       0x1.e438aep-5f, 0x1.b927a2p-7f, -0x1.970672p-7f, -0x1.50b8b6p-5f,
       -0x1.875a5ap-5f, -0x1.7b8b24p-5f, -0x1.9c178cp-5f, -0x1.17348ep-5f,
       -0x1.457322p-6f, -0x1.b1fc9ap-7f, -0x1.94445ap-6f, -0x1.5eb698p-9f,
       0x1.4a243p-9f, -0x1.d77edcp-7f, -0x1.0307p-9f, -0x1.b928dcp-11f,
       -0x1.c0efccp-7f, -0x1.353152p-8f, -0x1.a95c8ap-9f, 0x1.41aaeap-7f,
       -0x1.845a52p-7f, 0x1.3cb00ep-9f, -0x1.aec6e4p-8f, 0.0f},
    }};

// 2^(k/32).
inline constexpr float kExpTable32[] = {
    0x1p+0f, 0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f,
    0x1.172b84p+0f, 0x1.1d4874p+0f, 0x1.2387a6p+0f, 0x1.29e9ep+0f,
    0x1.306fep+0f, 0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f,
    0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f, 0x1.6247ecp+0f,
    0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f,
    0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f,
    0x1.ae89fap+0f, 0x1.b7f77p+0f, 0x1.c199bep+0f, 0x1.cb720ep+0f,
    0x1.d5818ep+0f, 0x1.dfc974p+0f, 0x1.ea4afap+0f, 0x1.f50766p+0f,
};

// e^r - 1 = c1 r + c2 r^2, |r| <= ln 2 / 64.
inline constexpr float kExpQuadratic32[] = {
    0x1.0000f6p+0f, 0x1.000096p-1f,
};

// 2^(k/16).
inline constexpr float kExpTable16[] = {
    0x1p+0f, 0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
    0x1.306fep+0f, 0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
    0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f,
};

// e^r - 1 = c1 r + c2 r^2, |r| <= ln 2 / 32.
inline constexpr float kExpQuadratic16[] = {
    0x1.0003d8p+0f, 0x1.000258p-1f,
};

// e^r - 1 - r from r^2 up, |r| <= ln 2 / 2.
inline constexpr float kExpPolynomial[] = {
    0x1p-1f, 0x1.555492p-3f, 0x1.5554bep-5f, 0x1.12398ep-7f,
    0x1.6d7c8cp-10f,
};

// log(1 + f) - f + f^2 / 2 from f^3 up, -1/4 <= f < 1/2.
inline constexpr float kLogPolynomial[] = {
    0x1.5555b2p-2f, -0x1.ffeceep-3f, 0x1.993cc6p-3f, -0x1.57d55p-3f,
    0x1.313f0ep-3f, -0x1.f03b06p-4f, 0x1.c7851ap-5f,
};

// tanh t = t P(t^2) / Q(t^2) for t up to the limit: P and Q.
inline constexpr double kTanhRatioLimit = 9.0;
inline constexpr float kTanhRatio[][5] = {
    {0x1p+0f, 0x1.121a8p-3f, 0x1.ca9cfcp-9f, 0x1.5a99e2p-16f, 0x1.cce8c4p-27f},
    {0x1p+0f, 0x1.de628ep-2f, 0x1.a82edep-6f, 0x1.591336p-12f, 0x1.a2eb2ap-21f},
};

// ln 2 = sum, for fused steps.
inline constexpr float kLn2Fma[] = {
    0x1.62e43p-1f, -0x1.05c61p-29f,
};

// ln 2 = sum; the first two times |n| < 2^9 are exact.
inline constexpr float kLn2Exact[] = {
    0x1.62e4p-1f, 0x1.7f7cp-20f, 0x1.1cf78p-36f,
};

}  // namespace fxjit::jit
// clang-format on
