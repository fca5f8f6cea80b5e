export type { DeskOptions } from './approval-desk.ts';
export { openCallbacks } from './callbacks.ts';
export { openApi } from './open-api.ts';
export type { Api, Callback, Callbacks } from './types.ts';
export type {
  HintWorkbench,
  PinWorkbench,
  PolicyWorkbench,
  RecordWorkbench,
  ServerWorkbench,
  Workbench,
} from './workbench.ts';
