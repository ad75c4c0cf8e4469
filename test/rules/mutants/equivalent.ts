/** Mistakes that change nothing which can be seen, by name, with the reason in a sentence. What is lost is speed or memory alone. */
export const proofs: Readonly<Record<string, string>> = {
  'forms: a tangent that is zero is made of zeros': 'the modes ask no rule where no argument moves',
  'functions: 1 - x^2 has its factors exchanged':
    'the rule of strongMul is symmetric in its factors, and 1 + |x| is never 0, so neither order puts a 0 where the other has none',
  'functions: the size in 1 - x^2 is negative':
    '(1 + |x|)(1 - |x|) is the same product with its factors exchanged; the other slope at 0 is taken once with each sign',
  'regions: nodes are in the order of their joining':
    'regions that join are of one level, so neither reads the other: the nodes of one after those of the other are in an order in which they can be computed',
  'regions: what it reads is of its own level':
    'between two steps that are not elementwise shapes only grow: what has another shape than a node is smaller, and reads nothing of its region',
  'contract: one factor without broadcasting is enough':
    "the product of the factors has the leading axes of yBar, which are those of both arguments together: where yBar's or the other factor's are x's, so are the product's",
  'contract: the other factor is not looked at': 'the product of the factors has the leading axes of yBar',
  'contract: the cotangent itself is not looked at': 'where both arguments have the same leading axes, yBar has them',
  'contract: leading axes are all but the last': 'fewer products are added in place; what is not is summed to the shape of its argument',
  'reverse: blocks with a gap tile it': 'sizes that add up to the length leave no gap between blocks that do not overlap',
  'reverse: blocks tile the first axis': 'blocks of another axis overlap along the first, so they are added one by one',
  'reverse: blocks of other axes tile it': 'a block as long as an axis starts at 0',
  'reverse: one block is a whole':
    'a block that is the whole has no axis along which it is a part; another one does not end where the axis ends',
  'layout: a slice reads its block from the front': 'blocks that all start at 0 never follow one another, so they are added one by one',
  'positions: iota is one for all': 'a primitive without arguments is never batched',
  'arithmetic: x / c is taken for 1 / x': 'the result of an application is no literal',
  'functions: a literal exponent has a derivative': 'nobody asks for the cotangent of a literal, and its tangent is zero',
  'reverse: a seed is for what is not active too': 'what is not active is not on the tape, so nobody takes its cotangent',
  'reverse: values are those of the outputs': "a rule's own results are those of the primitive to the bit",
  'contract: the factors of a product are built at once':
    'transposes are called for active arguments alone, and the cotangents of those are always forced',
  'mixed: regions of constants are maps': 'a map computes what its region does, whether it is differentiated or not',
  'regions: what is read twice is two arguments': 'the cotangents of two arguments that are one value are added',
  'regions: several regions have room for more': 'limits bound the work of one map, not what it computes',
  'arithmetic: the cotangent of cast has its own dtype': 'the modes give every cotangent the dtype of its argument',
  'arithmetic: the tangent of cast has that of x': 'the modes give every tangent the dtype of its result',
  'arithmetic: the tangent of a cast from integers is one': 'the modes ask no rule for the tangent of a result that is no float',
  'arithmetic: a cast to integers is pulled back': 'the modes ask no rule for the tangent of a result that is no float',
  'forms: every constant has a tangent space': 'the modes ask no rule for the tangent of a result that is no float',
  'common: integers have cotangents': 'floats alone are active, so nothing is added for an integer',
  'custom-rule: a zero is no tangent': 'the modes take NoTangent at a float for zero, in either direction',
  'reverse: what is differentiated by does not hold back its cotangent':
    'whoever differentiates by something makes it an input, which is no result of an application',
  'jacobian: chunks are forgotten in jacfwd': 'in how many parts a basis is pushed does not change what is pushed',
  'gradient: the value is the gradient of it': "a rule's own results are those of the primitive to the bit",
  'map: a result of some arguments keeps their shape': 'expandMap has given it the shape of all already',
  'close: a view of what is known is not captured': 'on which side of a partition a view stands changes what is kept, not what is computed',
  'trigonometric: tan is not singular':
    'the tangent of a number in f64 or f32 is finite everywhere, and so are the powers of it in its derivatives',
  'decompositions: the triangle has its diagonal': 'the diagonal that is subtracted is added again with the transpose',
}
