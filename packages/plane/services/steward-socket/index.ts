export { askSteward, controlSocket } from './ask-steward.ts';
