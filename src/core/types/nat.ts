// Decimal arithmetic on literal number types: schoolbook algorithms on digit strings, any size.
// Digits are added as tuple lengths; every digit step is cached by the compiler, so no tables are needed.

/** One decimal digit. */
export type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'

type Tens = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
interface Tuples {
  '0': []
  '1': [0]
  '2': [0, 0]
  '3': [0, 0, 0]
  '4': [0, 0, 0, 0]
  '5': [0, 0, 0, 0, 0]
  '6': [0, 0, 0, 0, 0, 0]
  '7': [0, 0, 0, 0, 0, 0, 0]
  '8': [0, 0, 0, 0, 0, 0, 0, 0]
  '9': [0, 0, 0, 0, 0, 0, 0, 0, 0]
}
interface Times<T extends 0[]> {
  '0': []
  '1': T
  '2': [...T, ...T]
  '3': [...T, ...T, ...T]
  '4': [...T, ...T, ...T, ...T]
  '5': [...T, ...T, ...T, ...T, ...T]
  '6': [...T, ...T, ...T, ...T, ...T, ...T]
  '7': [...T, ...T, ...T, ...T, ...T, ...T, ...T]
  '8': [...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T]
  '9': [...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T, ...T]
}

/** '27' -> ['7', '2'], '7' -> ['7', '0']: the digit that stays and the carry. */
type Carried<N extends string> = N extends `${infer C extends Digit}${infer D extends Digit}` ? [D, C] : N extends Digit ? [N, '0'] : never
type AddDigits<
  A extends Digit,
  B extends Digit,
  C extends Digit,
> = Carried<`${[...Tuples[A], ...Tuples[B], ...Tuples[C]]['length'] & number}`>
type MulDigits<A extends Digit, B extends Digit, C extends Digit> = Carried<`${[...Times<Tuples[A]>[B], ...Tuples[C]]['length'] & number}`>
type SubDigits<A extends Digit, B extends Digit, C extends Digit> = Tuples[A] extends [...Tuples[B], ...Tuples[C], ...infer R]
  ? [`${R['length'] & number}`, '0']
  : [...Tens, ...Tuples[A]] extends [...Tuples[B], ...Tuples[C], ...infer R]
    ? [`${R['length'] & number}`, '1']
    : never

// Little-endian digit strings.
type Reverse<S extends string, R extends string = ''> = S extends `${infer H}${infer T}` ? Reverse<T, `${H}${R}`> : R
type Trim<S extends string> = S extends '0' | '' ? '0' : S extends `0${infer T}` ? Trim<T> : S
type ToNumber<S extends string> = Trim<S> extends `${infer N extends number}` ? N : never

type AddLow<
  A extends string,
  B extends string,
  C extends Digit = '0',
  R extends string = '',
> = A extends `${infer a extends Digit}${infer AT}`
  ? B extends `${infer b extends Digit}${infer BT}`
    ? AddDigits<a, b, C> extends [infer D extends Digit, infer E extends Digit]
      ? AddLow<AT, BT, E, `${R}${D}`>
      : never
    : C extends '0'
      ? `${R}${A}`
      : AddLow<A, C, '0', R>
  : B extends ''
    ? C extends '0'
      ? R
      : `${R}${C}`
    : AddLow<B, '', C, R>

/** `never` when B is greater than A. */
type SubLow<
  A extends string,
  B extends string,
  C extends Digit = '0',
  R extends string = '',
> = A extends `${infer a extends Digit}${infer AT}`
  ? B extends `${infer b extends Digit}${infer BT}`
    ? SubDigits<a, b, C> extends [infer D extends string, infer E extends Digit]
      ? SubLow<AT, BT, E, `${R}${D}`>
      : never
    : C extends '0'
      ? `${R}${A}`
      : SubLow<A, C, '0', R>
  : B extends ''
    ? C extends '0'
      ? R
      : never
    : B extends '0'
      ? SubLow<A, '', C, R>
      : never

type MulDigitLow<
  A extends string,
  B extends Digit,
  C extends Digit = '0',
  R extends string = '',
> = A extends `${infer a extends Digit}${infer AT}`
  ? MulDigits<a, B, C> extends [infer D extends Digit, infer E extends Digit]
    ? MulDigitLow<AT, B, E, `${R}${D}`>
    : never
  : C extends '0'
    ? R
    : `${R}${C}`
/** B's digits from the most significant one down: shift, then add. */
type MulLow<A extends string, B extends string, R extends string = ''> = B extends `${infer b extends Digit}${infer BT}`
  ? MulLow<A, BT, R extends '' ? MulDigitLow<A, b> : AddLow<`0${R}`, MulDigitLow<A, b>>>
  : R

type Successor = { '0': '1'; '1': '2'; '2': '3'; '3': '4'; '4': '5'; '5': '6'; '6': '7'; '7': '8'; '8': '9'; '9': '9' }
/** How often B (little-endian) goes into A, at most 9 times, and what is left. */
type QuotientDigit<A extends string, B extends string, Q extends Digit = '0'> = [SubLow<A, B>] extends [never]
  ? [Q, A]
  : QuotientDigit<StripHigh<SubLow<A, B>>, B, Successor[Q]>
type StripHigh<A extends string> = A extends `${infer H}0` ? (H extends '' ? '' : StripHigh<H>) : A extends '0' ? '' : A
type DivHigh<
  A extends string,
  B extends string,
  Rest extends string = '',
  Q extends string = '',
> = A extends `${infer a extends Digit}${infer AT}`
  ? QuotientDigit<StripHigh<`${a}${Rest}`>, B> extends [infer q extends string, infer r extends string]
    ? DivHigh<AT, B, r, `${Q}${q}`>
    : never
  : [Q, Reverse<Rest>]

/** True for a type that is one non-negative whole number, written without exponent. */
export type IsNat<N> = [N] extends [number]
  ? number extends N
    ? false
    : [N] extends [never]
      ? false
      : `${N & number}` extends `${string}${'-' | '.' | 'e'}${string}`
        ? false
        : true
  : false

// The parameters have no bounds: that what is computed of sizes is a number TypeScript would ask of every expression in a declaration, in depth.

/** A + B for literal naturals. @example Add<999, 1>   // 1000 */
export type Add<A, B> = A extends 0 ? B : B extends 0 ? A : ToNumber<Reverse<AddLow<Reverse<`${A & number}`>, Reverse<`${B & number}`>>>>
/** A - B for literal naturals; `never` when it would be negative. @example Sub<1000, 1>   // 999 */
export type Sub<A, B> = B extends 0
  ? A
  : [SubLow<Reverse<`${A & number}`>, Reverse<`${B & number}`>>] extends [never]
    ? never
    : ToNumber<Reverse<SubLow<Reverse<`${A & number}`>, Reverse<`${B & number}`>>>>
/** A * B for literal naturals. @example Mul<512, 256>   // 131072 */
export type Mul<A, B> = A extends 0
  ? 0
  : B extends 0
    ? 0
    : A extends 1
      ? B
      : B extends 1
        ? A
        : MulLow<Reverse<`${A & number}`>, `${B & number}`> extends infer P extends string
          ? ToNumber<Reverse<P>>
          : never
/** [floor(A / B), A mod B] for literal naturals, B > 0. @example DivMod<223, 7>   // [31, 6] */
export type DivMod<A, B> = B extends 0
  ? never
  : DivHigh<`${A & number}`, Reverse<`${B & number}`>> extends [infer Q extends string, infer R extends string]
    ? [ToNumber<Q>, ToNumber<R>]
    : never
/** floor(A / B) for literal naturals, B > 0; `never` for B = 0. @example Div<224, 3>   // 74 */
export type Div<A, B> = B extends 0 ? never : B extends 1 ? A : DivMod<A, B> extends [infer Q extends number, unknown] ? Q : never
