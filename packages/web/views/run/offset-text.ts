const SECOND_MS = 1_000;

/** How far into the run: `+0:04.912`, `+1:13:20.000`; `isShort` leaves the milliseconds out. */
export function offsetText(ms: number, isShort = false): string {
  const whole = Math.max(0, Math.round(ms));
  const seconds = Math.floor(whole / SECOND_MS);
  const two = (part: number) => String(part).padStart(2, '0');
  const minutes = Math.floor(seconds / 60) % 60;
  const hours = Math.floor(seconds / 3_600);
  const clock = hours > 0 ? `${hours}:${two(minutes)}` : String(minutes);
  const rest = isShort ? '' : `.${String(whole % SECOND_MS).padStart(3, '0')}`;
  return `+${clock}:${two(seconds % 60)}${rest}`;
}
