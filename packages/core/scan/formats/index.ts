// The one table of secret formats: what is found by it is redacted by it, and the other way round.
import type { Rule } from '../types.ts';
import { ASSIGNMENTS } from './assignment.ts';
import { CLOUDS } from './clouds.ts';
import { patternRule, tokenRule } from './pattern.ts';
import { SERVICES } from './services.ts';
import { SHAPES } from './shapes.ts';
import { TOKENS } from './tokens.ts';

/** The more telling name first: it is the one that an overlap is called by. */
export const FORMATS: readonly Rule[] = [
  ...CLOUDS.map(patternRule),
  ...TOKENS.map(tokenRule),
  ...SERVICES.map(patternRule),
  ...SHAPES.map(patternRule),
  ...ASSIGNMENTS,
];
