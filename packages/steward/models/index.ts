export { openModels, type StewardModels } from './open-models.ts';
export { sharedModel } from './shared-model.ts';
export type { ModelAnswer, ModelQuestion, Models } from './types.ts';
