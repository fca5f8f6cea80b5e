export { absolutePath, isUnder, lexicalPath } from './lexical-path.ts';
export { nameVariants } from './name-variants.ts';
export { namedPaths } from './named-paths.ts';
