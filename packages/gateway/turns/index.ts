export { BodyRoom } from './body-room.ts';
export {
  createTurnEngine,
  type TurnEngine,
  type TurnEngineOptions,
  type TurnRoute,
} from './engine.ts';
export { forwardModels, type ModelsRoute } from './forward-models.ts';
export { TURN_LIMITS, type TurnLimits } from './limits.ts';
export { type ListedModel, modelEntry, modelList, poolModels } from './model-list.ts';
export type {
  Attempt,
  AttemptError,
  AttemptOutcome,
  GatewayLink,
  GovernedTurn,
  TurnGovernor,
  TurnOutcome,
  TurnPlan,
  TurnRefusal,
  TurnRequest,
  TurnTail,
} from './types.ts';
export { coreWires, rememberingWires, type TurnWires } from './wires.ts';
