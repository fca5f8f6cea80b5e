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
} from './form.ts';
export type { PartText, RequestOutline, RequestPart } from './outline.ts';
export { wireFor } from './registry.ts';
export type { SseEvent, SseReader, SseReaderOptions } from './sse.ts';
export { sseReader, sseText } from './sse.ts';
export type {
  AnswerObserver,
  AnswerReader,
  AnswerWriter,
  DegradedFeature,
  ObservedAnswer,
  Wire,
  Written,
} from './wire.ts';
