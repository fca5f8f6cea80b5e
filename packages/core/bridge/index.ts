export { ModernAgentBridge } from './modern-agent/bridge.ts';
export {
  type EraNegotiation,
  LegacyAgentNegotiation,
  ModernAgentNegotiation,
} from './negotiation.ts';
export { severityOf } from './shared/era-names.ts';
export {
  BRIDGE_LIMITS,
  type BridgeCommand,
  type BridgeConfig,
  type BridgeLimits,
  type BridgeMessage,
  type EraBridge,
} from './shared/types.ts';
