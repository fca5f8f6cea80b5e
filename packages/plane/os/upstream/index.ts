export { CallAbort } from './call-abort.ts';
export type { AnswerBody } from './exchange.ts';
export type { UpstreamFault } from './fault.ts';
export { fault, isFault } from './fault.ts';
export { proxyOf } from './proxy-of.ts';
export { readAnswerBody } from './read-body.ts';
export { openTunnel, type TunnelTarget, tunnelAgent, tunnelProxy } from './tunnel.ts';
export {
  openUpstream,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamMethod,
  type UpstreamOptions,
} from './upstream.ts';
