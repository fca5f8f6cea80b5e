export { openCallbacks } from './callbacks.ts';
export { openApi } from './open-api.ts';
export type {
  Api,
  ApiDesk,
  ApiLimits,
  ApiOptions,
  ApiReader,
  Callback,
  Callbacks,
  DeskFault,
  Feed,
  FeedItem,
  OpenApiResult,
  Summarizer,
} from './types.ts';
