/** Names of attention and of transformer blocks in PyTorch's state dicts, and in Hugging Face's LLaMA. */
import type { Described, InTorch } from './layer.js'

/** How large attention is. */
export interface AttentionSizes {
  readonly heads: number
  readonly kept: number
  readonly d: number
  readonly f: number
  readonly from: number
  readonly bias: boolean
}
/** Is it one of PyTorch's, all of whose heads have keys of their own, and features / heads features? */
const isPlain = ({ kept, heads, d, f }: AttentionSizes): boolean => kept === heads && heads * d === f
const whole = (at: string): InTorch => ({ at: `${at}.w`, axes: [1, 0] })
/** Names of `torch.nn.MultiheadAttention` where it is one of those; of Hugging Face's LLaMA where heads are grouped, or of another width. */
export const attentionInTorch = (sizes: AttentionSizes): NonNullable<Described['torch']> => {
  const { f, from, bias } = sizes
  if (!isPlain(sizes)) return inLlama(bias)
  const own = ['q', 'k', 'v'] as const
  const part = (i: number) => ({ axis: 0, from: i * f, size: f })
  return {
    ...(from === f
      ? { in_proj_weight: own.map((at, i) => ({ ...whole(at), slice: part(i) })) }
      : Object.fromEntries(own.map((at) => [`${at}_proj_weight`, whole(at)]))),
    ...(bias && { in_proj_bias: own.map((at, i) => ({ at: `${at}.b`, slice: part(i) })) }),
    'out_proj.weight': whole('out'),
    ...(bias && { 'out_proj.bias': { at: 'out.b' } }),
  }
}
/** Names of Hugging Face's LLaMA. */
export const inLlama = (bias: boolean): NonNullable<Described['torch']> =>
  Object.fromEntries(
    (['q', 'k', 'v', 'out'] as const).flatMap((at) => {
      const name = `${at === 'out' ? 'o' : at}_proj`
      return [[`${name}.weight`, whole(at)], ...(bias ? [[`${name}.bias`, { at: `${at}.b` }]] : [])]
    }),
  )

/** Of what a block is made. */
export interface BlockNamed {
  readonly attention: Described
  readonly cross: Described | null
  readonly bias: boolean
  readonly gated: boolean
  readonly normKind: 'layer' | 'rms'
}
/** Arrays of a part, by its prefix there and its path here. */
const prefixed = (torch: Described['torch'], name: string, path: string): Readonly<Record<string, readonly InTorch[]>> =>
  Object.fromEntries(
    Object.entries(torch ?? {}).map(([leaf, how]) => [
      `${name}.${leaf}`,
      ([how].flat() as readonly InTorch[]).map((h) => ({ ...h, at: `${path}.${h.at}` })),
    ]),
  )
/** A product in PyTorch's names. */
const denseInTorch = (bias: boolean): Described['torch'] => ({ weight: { at: 'w', axes: [1, 0] }, ...(bias && { bias: { at: 'b' } }) })
/** A normalisation in PyTorch's names. */
export const normInTorch = (kind: 'layer' | 'rms'): NonNullable<Described['torch']> => ({
  weight: { at: 'scale' },
  ...(kind === 'layer' && { bias: { at: 'bias' } }),
})
/** PyTorch's names; with a gate those of Hugging Face's LLaMA. */
export const blockInTorch = ({ attention, cross, bias, gated, normKind }: BlockNamed): NonNullable<Described['torch']> => {
  const part = (name: string, path: string) => prefixed(denseInTorch(bias), name, path)
  const norm = (name: string, path: string) => prefixed(normInTorch(normKind), name, path)
  return gated
    ? {
        ...prefixed(inLlama(bias), 'self_attn', 'attention'),
        ...(cross !== null && { ...prefixed(inLlama(bias), 'encoder_attn', 'cross'), ...norm('encoder_attn_layernorm', 'crossNorm') }),
        ...part('mlp.up_proj', 'up'),
        ...part('mlp.gate_proj', 'gate'),
        ...part('mlp.down_proj', 'down'),
        ...norm('input_layernorm', 'attentionNorm'),
        ...norm('post_attention_layernorm', 'denseNorm'),
      }
    : {
        ...prefixed(attention.torch, 'self_attn', 'attention'),
        ...(cross !== null && { ...prefixed(cross.torch, 'multihead_attn', 'cross'), ...norm('norm2', 'crossNorm') }),
        ...part('linear1', 'up'),
        ...part('linear2', 'down'),
        ...norm('norm1', 'attentionNorm'),
        ...norm(cross === null ? 'norm2' : 'norm3', 'denseNorm'),
      }
}
