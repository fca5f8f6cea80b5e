export {
  alertsAnswer,
  spendingAnswer,
  taskAnswer,
  updatesAnswer,
} from './control-answers.ts';
export type { ControlHandlers, ControlServer } from './control-server.ts';
export { serveControl } from './control-server.ts';
