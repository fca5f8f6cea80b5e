export { openCallbacks } from './callbacks.ts';
export type { HttpFailure } from './http-failure.ts';
export { openApi } from './open-api.ts';
export type {
  Api,
  ApiDesk,
  ApiLimits,
  ApiOptions,
  ApiReader,
  Callback,
  Callbacks,
  Feed,
  FeedItem,
  Summarizer,
} from './types.ts';
