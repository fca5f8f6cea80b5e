// Buttons of questions, as they travel through services and come back.
import type { ButtonPress, ChannelLimits, PressVerdict, SettledQuestion } from './types.ts';

export const BUTTON_LABELS: { readonly [verdict in PressVerdict]: string } = {
  approve: 'Approve',
  reject: 'Reject',
  details: 'Details',
};

const DATA = /^steward:(approve|reject|details):([A-Z0-9]{6})$/;

export function buttonData(verdict: PressVerdict, code: string): string {
  return `steward:${verdict}:${code}`;
}

/** Undefined for what is no button of ours. */
export function readButton(data: unknown): Pick<ButtonPress, 'verdict' | 'code'> | undefined {
  const [, verdict, code] = DATA.exec(typeof data === 'string' ? data : '') ?? [];
  if (code === undefined) return undefined;
  if (verdict !== 'approve' && verdict !== 'reject' && verdict !== 'details') return undefined;
  return { verdict, code };
}

/** What stands in place of a question, where a message can be edited. */
export function settledText({ question, words }: SettledQuestion, limits: ChannelLimits): string {
  const { textLengthMax, buttonTextLengthMax = textLengthMax } = limits;
  const both = `${question}\n\n${words}`;
  return question === '' || both.length > buttonTextLengthMax ? words : both;
}
