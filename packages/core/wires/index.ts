export type { PartText, RequestOutline, RequestPart } from './outline.ts';
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
  AnswerReader,
  AnswerWriter,
  DegradedFeature,
  ObservedAnswer,
  Wire,
  Written,
} from './shared/wire.ts';
