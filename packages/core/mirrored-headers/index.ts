export { type Annotations, type HeaderAnnotation, readAnnotations } from './annotations.ts';
export { decodeHeaderValue, encodeHeaderValue } from './header-values.ts';
export {
  checkStandardHeaders,
  HEADER_MISMATCH,
  type MirroredHeader,
  type MirroredRequest,
  mirroredName,
  type RequestHeaders,
  standardHeaders,
} from './standard-headers.ts';
export {
  type CallArguments,
  type InvalidTool,
  type LearnedList,
  ToolHeaders,
} from './tool-headers.ts';
