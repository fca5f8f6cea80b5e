export { openModels, type StewardModels } from './open-models.ts';
export type { ModelAnswer, ModelQuestion, Models } from './types.ts';
