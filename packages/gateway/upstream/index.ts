export type { AnswerBody } from './exchange.ts';
export type { UpstreamFault } from './fault.ts';
export {
  type AbortSource,
  openUpstream,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamOptions,
} from './upstream.ts';
