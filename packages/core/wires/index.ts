export { estimatePartTokens, estimateTokens } from './estimate.ts';
export type { OutlinedRequest } from './grown-outline.ts';
export { grownOutline, sharedParts } from './grown-outline.ts';
export type { ByteTools, RequestOutline, RequestPart, SharedParts } from './outline.ts';
export { outlineRequest } from './outline.ts';
export type { PartText } from './part-texts.ts';
export { partTexts } from './part-texts.ts';
export type { TextReplacement } from './redact.ts';
export { redactTexts } from './redact.ts';
export type { RefusalAnswer, TurnRefusal } from './refusals.ts';
export {
  acceptsRefusalData,
  REFUSAL_MEDIA_TYPE,
  refusalAnswer,
  refusalError,
  refusalStream,
} from './refusals.ts';
export { wireFor } from './registry.ts';
export type {
  AnswerEvent,
  Block,
  CacheMark,
  Effort,
  FunctionTool,
  MediaSource,
  Message,
  ModelAnswer,
  ModelRequest,
  OutputFormat,
  Reasoning,
  Rest,
  StopReason,
  ThinkingSeal,
  Tool,
  ToolChoice,
  UpstreamError,
  Usage,
  WireName,
} from './shared/form.ts';
export type { SseEvent, SseReader, SseReaderOptions } from './shared/sse.ts';
export { sseReader, sseText } from './shared/sse.ts';
export type {
  AnswerObserver,
  AnswerOptions,
  AnswerReader,
  AnswerWriter,
  DegradedFeature,
  ObservedAnswer,
  Wire,
  Written,
} from './shared/wire.ts';
export { spliceModel } from './splice.ts';
export type { StreamTranslation, Translation, TranslationOptions } from './translate.ts';
export { translate } from './translate.ts';
