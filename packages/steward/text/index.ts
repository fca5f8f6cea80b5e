export { htmlText } from './html-text.ts';
export type { FormSource } from './read-form.ts';
export { readForm } from './read-form.ts';
