export type { HtmlText, HtmlTextLimits } from './html-text.ts';
export { htmlText } from './html-text.ts';
