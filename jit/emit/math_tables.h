// Tables and polynomials of vector_math.cpp. Made by
// tools/fit_math_tables.py, which describes the method; not edited by hand.
#pragma once

// clang-format off
namespace fxjit::jit {

inline constexpr int kSmoothEntries = 16;

// A function on u >= 0 in 16 intervals, the k-th around k * step: there it is
// the polynomial in t = u - k * step whose coefficient of t^p is
// coefficients[p][k]. `step` has so few bits that k * step is exact. The last
// interval is the constant limit.
template <int kDegree>
struct SmoothTable {
  const char* name;
  float step;
  float coefficients[kDegree + 1][kSmoothEntries];
};

inline constexpr SmoothTable<5> kGelu = {
    "Gelu",
    0x1.7cp-2f,
    {
      {
        0.0f, 0x1.0e0406p-3f, 0x1.5c0f6p-3f, 0x1.2ec51cp-3f,
        0x1.a2a304p-4f, 0x1.e2d2a4p-5f, 0x1.d9cfd4p-6f, 0x1.8f7a74p-7f,
        0x1.22e16ap-8f, 0x1.6ef464p-10f, 0x1.91c0cep-12f, 0x1.7e2e1ep-14f,
        0x1.3c23a2p-16f, 0x1.c70abcp-19f, 0x1.1d078p-21f, 0.0f,
      },
      {
        0x1p-1f, 0x1.bc997cp-3f, 0x1.11eebp-8f, -0x1.b2fd1p-4f,
        -0x1.0601d2p-3f, -0x1.9c1052p-4f, -0x1.f7b674p-5f, -0x1.f8bb2p-6f,
        -0x1.a84842p-7f, -0x1.2eda22p-8f, -0x1.71bf84p-10f, -0x1.83ce7ap-12f,
        -0x1.5e7f04p-14f, -0x1.118e5ap-16f, -0x1.7155b8p-19f, 0.0f,
      },
      {
        -0x1.98841cp-2f, -0x1.63130ap-2f, -0x1.c17cbep-3f, -0x1.4e6d6p-4f,
        0x1.b9a7f6p-7f, 0x1.a59334p-5f, 0x1.95387p-5f, 0x1.09c5bp-5f,
        0x1.0f8e9ep-6f, 0x1.c4b5ep-8f, 0x1.3aa8d2p-9f, 0x1.713ad8p-11f,
        0x1.708414p-13f, 0x1.3a6d36p-15f, 0x1.cc52ccp-18f, 0.0f,
      },
      {
        -0x1.68061ep-15f, 0x1.6c50ccp-4f, 0x1.08aa6ep-3f, 0x1.c265c8p-4f,
        0x1.e2d606p-5f, 0x1.92e21ep-7f, -0x1.85788p-7f, -0x1.0a5f2ap-6f,
        -0x1.7bb2b4p-7f, -0x1.89e62p-8f, -0x1.431ccp-9f, -0x1.b1e9bep-11f,
        -0x1.e5b78cp-13f, -0x1.ca2916p-15f, -0x1.6ec4a4p-17f, 0.0f,
      },
      {
        0x1.1333a8p-4f, 0x1.81f226p-5f, 0x1.7ca136p-8f, -0x1.c55e7ep-6f,
        -0x1.275df8p-5f, -0x1.90ee84p-6f, -0x1.1a9542p-7f, 0x1.3eeb88p-10f,
        0x1.0698c6p-8f, 0x1.9e2dbcp-9f, 0x1.b3415p-10f, 0x1.5df988p-11f,
        0x1.c4a55ap-13f, 0x1.e28326p-15f, 0x1.adf8f8p-17f, 0.0f,
      },
      {
        -0x1.25a89ap-8f, -0x1.3094fap-6f, -0x1.75b21ep-6f, -0x1.809b04p-7f,
        0x1.e9b354p-10f, 0x1.1ea216p-7f, 0x1.e4591ap-8f, 0x1.a10308p-9f,
        0x1.763f4cp-13f, -0x1.abb206p-11f, -0x1.7265aep-11f, -0x1.82ce7ap-12f,
        -0x1.2b9604p-13f, -0x1.6f56eap-15f, -0x1.6f864cp-17f, 0.0f,
      },
    }};

inline constexpr SmoothTable<5> kGeluTanh = {
    "GeluTanh",
    0x1.68p-2f,
    {
      {
        0.0f, 0x1.0511cp-3f, 0x1.5b2394p-3f, 0x1.3b3ec2p-3f,
        0x1.ccbe2ap-4f, 0x1.1bff94p-4f, 0x1.2c111cp-5f, 0x1.10660ap-6f,
        0x1.a6aa26p-8f, 0x1.155c26p-9f, 0x1.2fc1dcp-11f, 0x1.11552ap-13f,
        0x1.8d8736p-16f, 0x1.cb431ap-19f, 0x1.9e24d6p-22f, 0.0f,
      },
      {
        0x1p-1f, 0x1.d8a5f6p-3f, 0x1.6b5112p-6f, -0x1.85b2f6p-4f,
        -0x1.081d42p-3f, -0x1.c631cp-4f, -0x1.308e2cp-4f, -0x1.4fe88ep-5f,
        -0x1.352ca6p-6f, -0x1.da531p-8f, -0x1.2c71dep-9f, -0x1.361f3p-11f,
        -0x1.00d4dep-13f, -0x1.4fbbeep-16f, -0x1.548992p-19f, 0.0f,
      },
      {
        -0x1.988426p-2f, -0x1.6819bap-2f, -0x1.dfb63ap-3f, -0x1.a0b344p-4f,
        -0x1.4d9692p-9f, 0x1.7657dap-5f, 0x1.b2bef2p-5f, 0x1.47e6a2p-5f,
        0x1.7cde54p-6f, 0x1.62de84p-7f, 0x1.0b017ep-8f, 0x1.426652p-10f,
        0x1.34a6acp-12f, 0x1.cdd4e8p-15f, 0x1.09cd7cp-17f, 0.0f,
      },
      {
        -0x1.37e9a4p-15f, 0x1.5e0158p-4f, 0x1.05cbe2p-3f, 0x1.d88df8p-4f,
        0x1.1ed0c6p-4f, 0x1.7ed326p-6f, -0x1.83fcdp-8f, -0x1.07f4c2p-6f,
        -0x1.da2216p-7f, -0x1.24dc8ap-7f, -0x1.12ef8ap-8f, -0x1.90ebap-10f,
        -0x1.c5c9f4p-12f, -0x1.8b2ee8p-14f, -0x1.0587cp-16f, 0.0f,
      },
      {
        0x1.144f6p-4f, 0x1.90aed8p-5f, 0x1.3ed936p-7f, -0x1.8bb924p-6f,
        -0x1.24bcfap-5f, -0x1.cad1ecp-6f, -0x1.bb5d5ap-7f, -0x1.0f1e48p-9f,
        0x1.ada9b2p-9f, 0x1.032502p-8f, 0x1.599a74p-9f, 0x1.45a492p-10f,
        0x1.c791ap-12f, 0x1.ddc65p-14f, 0x1.765e96p-16f, 0.0f,
      },
      {
        -0x1.1c5906p-8f, -0x1.2a7e74p-6f, -0x1.7d6c12p-6f, -0x1.bca1aap-7f,
        0x1.912478p-16f, 0x1.f3017p-8f, 0x1.05f256p-7f, 0x1.39a7eap-8f,
        0x1.8051b4p-10f, -0x1.bc5afep-12f, -0x1.d359d6p-11f, -0x1.4f5882p-11f,
        -0x1.358b3p-12f, -0x1.92d7e6p-14f, -0x1.7a4976p-16f, 0.0f,
      },
    }};

inline constexpr SmoothTable<6> kTanh = {
    "Tanh",
    0x1.38p-1f,
    {
      {
        0.0f, 0x1.165e28p-1f, 0x1.adb6c6p-1f, 0x1.e63784p-1f,
        0x1.f83dacp-1f, 0x1.fdb1b2p-1f, 0x1.ff513ap-1f, 0x1.ffcc5p-1f,
        0x1.fff0b8p-1f, 0x1.fffb7cp-1f, 0x1.fffeaap-1f, 0x1.ffff9ap-1f,
        0x1.ffffe2p-1f, 0x1.fffff8p-1f, 0x1.fffffep-1f, 0x1p+0f,
      },
      {
        0x1p+0f, 0x1.68a7f8p-1f, 0x1.2eb1dcp-2f, 0x1.9224a2p-4f,
        0x1.ecd1c2p-6f, 0x1.267d5p-7f, 0x1.5d4f9ep-9f, 0x1.9d69aep-11f,
        0x1.e8f448p-13f, 0x1.2117cap-14f, 0x1.55d4c4p-16f, 0x1.942eeap-18f,
        0x1.dde808p-20f, 0x1.1a89b2p-21f, 0x1.4e127ep-23f, 0.0f,
      },
      {
        -0x1.68516cp-19f, -0x1.882e36p-2f, -0x1.fc18e4p-3f, -0x1.7de218p-4f,
        -0x1.e55afcp-6f, -0x1.255538p-7f, -0x1.5c92dap-9f, -0x1.9cb34ap-11f,
        -0x1.e73a62p-13f, -0x1.2a75dep-14f, -0x1.45cb72p-16f, -0x1.32a4b6p-21f,
        -0x1.15342cp-20f, -0x1.6153e2p-18f, -0x1.e8a8e8p-19f, 0.0f,
      },
      {
        -0x1.5533c2p-2f, -0x1.b6d52ap-6f, 0x1.c16314p-4f, 0x1.c943f6p-5f,
        0x1.39b87cp-6f, 0x1.835904p-8f, 0x1.cfde02p-10f, 0x1.1342f2p-11f,
        0x1.45d36ep-13f, 0x1.8161b8p-15f, 0x1.c7b818p-17f, 0x1.0d6d74p-18f,
        0x1.3e92e4p-20f, 0x1.78aed4p-22f, 0x1.bd63p-24f, 0.0f,
      },
      {
        -0x1.054dcep-9f, 0x1.23c08p-3f, -0x1.31a586p-7f, -0x1.6813a2p-6f,
        -0x1.262524p-7f, -0x1.690674p-9f, -0x1.ec4ef2p-11f, -0x1.32403ep-12f,
        -0x1.a5524ep-14f, 0x1.58d34ep-15f, -0x1.1eb47p-15f, -0x1.4bdc9ap-13f,
        -0x1.7172acp-16f, 0x1.1c702ap-13f, 0x1.a2b86ep-14f, 0.0f,
      },
      {
        0x1.2d1338p-3f, -0x1.8a449p-5f, -0x1.752db2p-6f, 0x1.14634ap-8f,
        0x1.9b5f26p-9f, 0x1.274dc2p-10f, 0x1.70808cp-12f, 0x1.bbb7ap-14f,
        0x1.07bea2p-15f, 0x1.384d86p-17f, 0x1.716656p-19f, 0x1.b4e286p-21f,
        0x1.02468ap-22f, 0x1.315a06p-24f, 0x1.6923a4p-26f, 0.0f,
      },
      {
        -0x1.6416aap-5f, -0x1.e91eccp-6f, 0x1.030656p-6f, 0x1.7f22c8p-10f,
        -0x1.9d29ap-11f, -0x1.6df54cp-10f, 0x1.4081bcp-12f, 0x1.78b84ap-13f,
        0x1.41199ep-13f, -0x1.e53f14p-12f, 0x1.9a1f32p-13f, 0x1.25c0acp-10f,
        0x1.423574p-13f, -0x1.fed0aap-11f, -0x1.77b042p-11f, 0.0f,
      },
    }};

inline constexpr SmoothTable<6> kErf = {
    "Erf",
    0x1.1p-2f,
    {
      {
        0.0f, 0x1.2bd9dcp-2f, 0x1.1855a6p-1f, 0x1.7b0058p-1f,
        0x1.bbef1p-1f, 0x1.e11a3ep-1f, 0x1.f39bc2p-1f, 0x1.fb9f6p-1f,
        0x1.fea422p-1f, 0x1.ffa14ap-1f, 0x1.ffe96ap-1f, 0x1.fffb4ap-1f,
        0x1.ffff24p-1f, 0x1.ffffdep-1f, 0x1.fffffcp-1f, 0x1p+0f,
      },
      {
        0x1.20dd76p+0f, 0x1.0d2fa6p+0f, 0x1.b3aafcp-1f, 0x1.32281ep-1f,
        0x1.75a91ap-2f, 0x1.8c0732p-3f, 0x1.6c7e64p-4f, 0x1.2351c2p-5f,
        0x1.94624ep-7f, 0x1.e7744ap-9f, 0x1.fe41d2p-11f, 0x1.cfd4bp-13f,
        0x1.6e237cp-15f, 0x1.f5f81p-18f, 0x1.2acf1ep-20f, 0.0f,
      },
      {
        -0x1.6ea1bep-16f, -0x1.1e052ep-2f, -0x1.cee5cp-2f, -0x1.e7f374p-2f,
        -0x1.8d05acp-2f, -0x1.06f872p-2f, -0x1.22709cp-3f, -0x1.0eecc4p-4f,
        -0x1.ade0e6p-6f, -0x1.24097cp-7f, -0x1.50fc3cp-9f, -0x1.50c772p-11f,
        -0x1.164eb6p-13f, -0x1.cf5ea6p-15f, -0x1.f5f5fep-16f, 0.0f,
      },
      {
        -0x1.7fceap-2f, -0x1.3448fap-2f, -0x1.f9fec6p-4f, 0x1.b8e6d8p-5f,
        0x1.395536p-3f, 0x1.4db314p-3f, 0x1.efba32p-4f, 0x1.1f2cccp-4f,
        0x1.0ea518p-5f, 0x1.a7af36p-7f, 0x1.16bf88p-8f, 0x1.36a492p-10f,
        0x1.26b4e8p-12f, 0x1.ddc502p-15f, 0x1.4bca08p-17f, 0.0f,
      },
      {
        -0x1.c66092p-6f, 0x1.12fa82p-3f, 0x1.77e262p-3f, 0x1.1d7534p-3f,
        0x1.92217p-5f, -0x1.9afcccp-6f, -0x1.9c755cp-5f, -0x1.469884p-5f,
        -0x1.8ea57ap-6f, -0x1.2eb2b2p-7f, -0x1.c5d08ap-8f, -0x1.136916p-9f,
        -0x1.67070cp-10f, 0x1.1cd226p-8f, 0x1.fb6d0cp-9f, 0.0f,
      },
      {
        0x1.6879f6p-2f, 0x1.3bbb9ap-4f, -0x1.fdb258p-10f, -0x1.e8fefcp-5f,
        -0x1.0f0e5p-4f, -0x1.2e6df4p-5f, -0x1.511aaep-8f, 0x1.657562p-7f,
        0x1.97de2ap-7f, 0x1.08813ap-7f, 0x1.f5d7dap-9f, 0x1.76893p-10f,
        0x1.c6791p-12f, 0x1.c85592p-14f, 0x1.7f6616p-16f, 0.0f,
      },
      {
        -0x1.73be32p-1f, -0x1.466d46p-4f, -0x1.986a9p-5f, -0x1.84efdep-4f,
        -0x1.00189cp-5f, 0x1.dc49d6p-4f, 0x1.ee0828p-5f, -0x1.e6cc52p-4f,
        -0x1.412ac8p-4f, -0x1.01f0fep-3f, 0x1.41eee8p-4f, 0x1.5a055ap-6f,
        0x1.288842p-5f, -0x1.573476p-3f, -0x1.2cb836p-3f, 0.0f,
      },
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
