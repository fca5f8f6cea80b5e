export { nameVariants } from './name-variants.ts';
