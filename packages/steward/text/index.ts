export type { HtmlText, HtmlTextLimits } from './html-text.ts';
export { htmlText } from './html-text.ts';
export type { FormSource, ReadForm } from './read-form.ts';
export { readForm } from './read-form.ts';
