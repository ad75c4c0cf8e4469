/** What stands beside the pages: the guide in its order, then what is looked up. Every document is in it; a test says so. */

/** A title with the pages below it, by their paths. */
export interface Group {
  readonly title: string
  readonly pages: readonly string[]
}
export const groups: readonly Group[] = [
  {
    title: 'Learn',
    pages: [
      'start',
      'tutorial/1-first-derivative',
      'tutorial/2-training',
      'tutorial/3-rule',
      'tutorial/4-checking',
      'tutorial/5-loops',
      'tutorial/6-gpu',
    ],
  },
  { title: 'Guides', pages: ['language', 'types', 'indexing', 'control-flow', 'derivatives', 'rules', 'checking', 'linting'] },
  {
    title: 'Train and solve',
    pages: ['models', 'layers', 'training', 'optim', 'onnx', 'random', 'distributions', 'inference', 'solve', 'minimizing', 'ranks'],
  },
  { title: 'Arrays', pages: ['arrays', 'linear-algebra', 'special-functions', 'fft'] },
  { title: 'Run', pages: ['webgpu', 'runtimes', 'command', 'playground', 'notebooks', 'examples'] },
  { title: 'Look up', pages: ['features', 'functions', 'coming-from', 'names'] },
  { title: 'Measured', pages: ['speed', 'sizes', 'accuracy'] },
  { title: 'The project', pages: ['architecture', 'contributing', 'style', 'decisions/index', 'changelog'] },
]
