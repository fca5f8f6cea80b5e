export type { AnswerBody } from './exchange.ts';
export type { UpstreamFault } from './fault.ts';
export { fault, isFault } from './fault.ts';
export { proxyOf } from './proxy-of.ts';
export { readAnswerBody } from './read-body.ts';
export {
  type AbortSource,
  openUpstream,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamOptions,
} from './upstream.ts';
