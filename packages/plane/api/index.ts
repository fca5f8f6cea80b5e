export { openApi } from './open.ts';
export type {
  Api,
  ApiLimits,
  ApiOptions,
  ApiReader,
  Feed,
  FeedItem,
  OpenApiResult,
  Summarizer,
} from './types.ts';
