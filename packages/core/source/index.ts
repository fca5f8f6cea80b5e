export type { ShapeWords, SourceFinding } from './explain-shape.ts';
export { explainShape, placed, reworded } from './explain-shape.ts';
export type { Path, Problem } from './problem.ts';
export { formatProblem, PROBLEMS_MAX } from './problem.ts';
export type { SourceTree } from './read-source.ts';
export { readSource } from './read-source.ts';
export { follow, valueOf } from './tree.ts';
