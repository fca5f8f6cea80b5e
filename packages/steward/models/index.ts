export { type ModelsOptions, openModels, type StewardModels } from './open-models.ts';
export type {
  ModelAnswer,
  ModelMessage,
  ModelQuestion,
  Models,
  ModelTool,
  ModelUse,
  Purpose,
} from './types.ts';
