/*
 * WebAssembly opcodes, by their names in the specification with dots written as underscores.
 *
 * One number says it all: below 0x100 a single byte; above, the prefix in bits 16 and up and the sub-opcode below it
 * (0xfd SIMD and relaxed SIMD, 0xfc saturating conversions and bulk memory). Memory accesses carry an immediate and
 * therefore are methods of FunctionBuilder; so are constants, control flow and lane accesses.
 * Each is a constant of its own, which bundlers write in place of its name: `import * as OP`.
 */

const simd = 0xfd0000
const misc = 0xfc0000

export const unreachable = 0x00
const returned = 0x0f
export const drop = 0x1a
export const select = 0x1b

export const i32_eqz = 0x45
export const i32_eq = 0x46
export const i32_ne = 0x47
export const i32_lt_s = 0x48
export const i32_lt_u = 0x49
export const i32_gt_s = 0x4a
export const i32_gt_u = 0x4b
export const i32_le_s = 0x4c
export const i32_le_u = 0x4d
export const i32_ge_s = 0x4e
export const i32_ge_u = 0x4f
export const i32_clz = 0x67
export const i32_ctz = 0x68
export const i32_popcnt = 0x69
export const i32_add = 0x6a
export const i32_sub = 0x6b
export const i32_mul = 0x6c
export const i32_div_s = 0x6d
export const i32_div_u = 0x6e
export const i32_rem_s = 0x6f
export const i32_rem_u = 0x70
export const i32_and = 0x71
export const i32_or = 0x72
export const i32_xor = 0x73
export const i32_shl = 0x74
export const i32_shr_s = 0x75
export const i32_shr_u = 0x76
export const i32_rotl = 0x77
export const i32_rotr = 0x78

export const i64_eqz = 0x50
export const i64_eq = 0x51
export const i64_ne = 0x52
export const i64_lt_s = 0x53
export const i64_lt_u = 0x54
export const i64_gt_s = 0x55
export const i64_gt_u = 0x56
export const i64_le_s = 0x57
export const i64_le_u = 0x58
export const i64_ge_s = 0x59
export const i64_ge_u = 0x5a
export const i64_add = 0x7c
export const i64_sub = 0x7d
export const i64_mul = 0x7e
export const i64_and = 0x83
export const i64_or = 0x84
export const i64_xor = 0x85
export const i64_shl = 0x86
export const i64_shr_s = 0x87
export const i64_shr_u = 0x88

export const f32_eq = 0x5b
export const f32_ne = 0x5c
export const f32_lt = 0x5d
export const f32_gt = 0x5e
export const f32_le = 0x5f
export const f32_ge = 0x60
export const f32_abs = 0x8b
export const f32_neg = 0x8c
export const f32_ceil = 0x8d
export const f32_floor = 0x8e
export const f32_trunc = 0x8f
export const f32_nearest = 0x90
export const f32_sqrt = 0x91
export const f32_add = 0x92
export const f32_sub = 0x93
export const f32_mul = 0x94
export const f32_div = 0x95
export const f32_min = 0x96
export const f32_max = 0x97
export const f32_copysign = 0x98

export const f64_eq = 0x61
export const f64_ne = 0x62
export const f64_lt = 0x63
export const f64_gt = 0x64
export const f64_le = 0x65
export const f64_ge = 0x66
export const f64_abs = 0x99
export const f64_neg = 0x9a
export const f64_ceil = 0x9b
export const f64_floor = 0x9c
export const f64_trunc = 0x9d
export const f64_nearest = 0x9e
export const f64_sqrt = 0x9f
export const f64_add = 0xa0
export const f64_sub = 0xa1
export const f64_mul = 0xa2
export const f64_div = 0xa3
export const f64_min = 0xa4
export const f64_max = 0xa5
export const f64_copysign = 0xa6

export const i32_wrap_i64 = 0xa7
export const i64_extend_i32_s = 0xac
export const i64_extend_i32_u = 0xad
export const f32_convert_i32_s = 0xb2
export const f32_convert_i32_u = 0xb3
export const f32_convert_i64_s = 0xb4
export const f32_demote_f64 = 0xb6
export const f64_convert_i32_s = 0xb7
export const f64_convert_i32_u = 0xb8
export const f64_convert_i64_s = 0xb9
export const f64_promote_f32 = 0xbb
export const i32_reinterpret_f32 = 0xbc
export const i64_reinterpret_f64 = 0xbd
export const f32_reinterpret_i32 = 0xbe
export const f64_reinterpret_i64 = 0xbf
export const i32_extend8_s = 0xc0
export const i32_extend16_s = 0xc1
export const i32_trunc_sat_f32_s = misc | 0
export const i32_trunc_sat_f32_u = misc | 1
export const i32_trunc_sat_f64_s = misc | 2
export const i32_trunc_sat_f64_u = misc | 3
export const i64_trunc_sat_f32_s = misc | 4
export const i64_trunc_sat_f64_s = misc | 6

export const v128_not = simd | 0x4d
export const v128_and = simd | 0x4e
export const v128_andnot = simd | 0x4f
export const v128_or = simd | 0x50
export const v128_xor = simd | 0x51
export const v128_bitselect = simd | 0x52
export const v128_any_true = simd | 0x53
export const i8x16_swizzle = simd | 0x0e

export const i8x16_splat = simd | 0x0f
export const i16x8_splat = simd | 0x10
export const i32x4_splat = simd | 0x11
export const i64x2_splat = simd | 0x12
export const f32x4_splat = simd | 0x13
export const f64x2_splat = simd | 0x14

export const i8x16_all_true = simd | 0x63
export const i8x16_bitmask = simd | 0x64
export const i8x16_narrow_i16x8_s = simd | 0x65
export const i8x16_narrow_i16x8_u = simd | 0x66
export const i16x8_narrow_i32x4_s = simd | 0x85
export const i16x8_narrow_i32x4_u = simd | 0x86
export const i16x8_extend_low_i8x16_s = simd | 0x87
export const i16x8_extend_high_i8x16_s = simd | 0x88
export const i16x8_extend_low_i8x16_u = simd | 0x89
export const i16x8_extend_high_i8x16_u = simd | 0x8a

export const i32x4_eq = simd | 0x37
export const i32x4_ne = simd | 0x38
export const i32x4_lt_s = simd | 0x39
export const i32x4_lt_u = simd | 0x3a
export const i32x4_gt_s = simd | 0x3b
export const i32x4_gt_u = simd | 0x3c
export const i32x4_le_s = simd | 0x3d
export const i32x4_le_u = simd | 0x3e
export const i32x4_ge_s = simd | 0x3f
export const i32x4_ge_u = simd | 0x40
export const i32x4_abs = simd | 0xa0
export const i32x4_neg = simd | 0xa1
export const i32x4_all_true = simd | 0xa3
export const i32x4_bitmask = simd | 0xa4
export const i32x4_extend_low_i16x8_s = simd | 0xa7
export const i32x4_extend_high_i16x8_s = simd | 0xa8
export const i32x4_extend_low_i16x8_u = simd | 0xa9
export const i32x4_extend_high_i16x8_u = simd | 0xaa
export const i32x4_shl = simd | 0xab
export const i32x4_shr_s = simd | 0xac
export const i32x4_shr_u = simd | 0xad
export const i32x4_add = simd | 0xae
export const i32x4_sub = simd | 0xb1
export const i32x4_mul = simd | 0xb5
export const i32x4_min_s = simd | 0xb6
export const i32x4_min_u = simd | 0xb7
export const i32x4_max_s = simd | 0xb8
export const i32x4_max_u = simd | 0xb9

export const i64x2_abs = simd | 0xc0
export const i64x2_neg = simd | 0xc1
export const i64x2_all_true = simd | 0xc3
export const i64x2_bitmask = simd | 0xc4
export const i64x2_extend_low_i32x4_s = simd | 0xc7
export const i64x2_extend_high_i32x4_s = simd | 0xc8
export const i64x2_extend_low_i32x4_u = simd | 0xc9
export const i64x2_extend_high_i32x4_u = simd | 0xca
export const i64x2_shl = simd | 0xcb
export const i64x2_shr_s = simd | 0xcc
export const i64x2_shr_u = simd | 0xcd
export const i64x2_add = simd | 0xce
export const i64x2_sub = simd | 0xd1
export const i64x2_mul = simd | 0xd5
export const i64x2_eq = simd | 0xd6
export const i64x2_ne = simd | 0xd7
export const i64x2_lt_s = simd | 0xd8
export const i64x2_gt_s = simd | 0xd9
export const i64x2_le_s = simd | 0xda
export const i64x2_ge_s = simd | 0xdb

export const f32x4_eq = simd | 0x41
export const f32x4_ne = simd | 0x42
export const f32x4_lt = simd | 0x43
export const f32x4_gt = simd | 0x44
export const f32x4_le = simd | 0x45
export const f32x4_ge = simd | 0x46
export const f32x4_ceil = simd | 0x67
export const f32x4_floor = simd | 0x68
export const f32x4_trunc = simd | 0x69
export const f32x4_nearest = simd | 0x6a
export const f32x4_abs = simd | 0xe0
export const f32x4_neg = simd | 0xe1
export const f32x4_sqrt = simd | 0xe3
export const f32x4_add = simd | 0xe4
export const f32x4_sub = simd | 0xe5
export const f32x4_mul = simd | 0xe6
export const f32x4_div = simd | 0xe7
export const f32x4_min = simd | 0xe8
export const f32x4_max = simd | 0xe9
export const f32x4_pmin = simd | 0xea
export const f32x4_pmax = simd | 0xeb

export const f64x2_eq = simd | 0x47
export const f64x2_ne = simd | 0x48
export const f64x2_lt = simd | 0x49
export const f64x2_gt = simd | 0x4a
export const f64x2_le = simd | 0x4b
export const f64x2_ge = simd | 0x4c
export const f64x2_ceil = simd | 0x74
export const f64x2_floor = simd | 0x75
export const f64x2_trunc = simd | 0x7a
export const f64x2_nearest = simd | 0x94
export const f64x2_abs = simd | 0xec
export const f64x2_neg = simd | 0xed
export const f64x2_sqrt = simd | 0xef
export const f64x2_add = simd | 0xf0
export const f64x2_sub = simd | 0xf1
export const f64x2_mul = simd | 0xf2
export const f64x2_div = simd | 0xf3
export const f64x2_min = simd | 0xf4
export const f64x2_max = simd | 0xf5
export const f64x2_pmin = simd | 0xf6
export const f64x2_pmax = simd | 0xf7

export const f32x4_demote_f64x2_zero = simd | 0x5e
export const f64x2_promote_low_f32x4 = simd | 0x5f
export const i32x4_trunc_sat_f32x4_s = simd | 0xf8
export const i32x4_trunc_sat_f32x4_u = simd | 0xf9
export const f32x4_convert_i32x4_s = simd | 0xfa
export const f32x4_convert_i32x4_u = simd | 0xfb
export const i32x4_trunc_sat_f64x2_s_zero = simd | 0xfc
export const i32x4_trunc_sat_f64x2_u_zero = simd | 0xfd
export const f64x2_convert_low_i32x4_s = simd | 0xfe
export const f64x2_convert_low_i32x4_u = simd | 0xff

// relaxed SIMD: operands a, b, c give a * b + c and -(a * b) + c, fused or not as the machine likes
export const f32x4_relaxed_madd = simd | 0x105
export const f32x4_relaxed_nmadd = simd | 0x106
export const f64x2_relaxed_madd = simd | 0x107
export const f64x2_relaxed_nmadd = simd | 0x108
export { returned as return }

/** An opcode without immediates. */
export type Op = number
