// The fields of a taint section are contract B's: they are told there.
import type { TaintSink as SinkRule, TaintSection } from '@subluminal/contracts';
import { TAINT_SECTION } from '@subluminal/contracts';

export type { SinkRule, TaintSection };
export { TAINT_SECTION };
