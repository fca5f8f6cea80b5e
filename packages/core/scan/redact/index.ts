export type { RefusedValue } from '../injected/values.ts';
export type { ExtraPattern, Range, SecretValue } from '../types.ts';
export type { Redacted, RedactOptions, Redactor, RedactorConfig } from './redactor.ts';
export { createRedactor } from './redactor.ts';
