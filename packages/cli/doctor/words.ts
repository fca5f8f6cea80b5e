// Sizes, ages and system errors as a person reads them.

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;
const STEP = 1_024;

export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  while (size >= STEP && unit < UNITS.length - 1) {
    size /= STEP;
    unit++;
  }
  const shown = unit === 0 || size >= 10 ? Math.round(size) : size.toFixed(1);
  return `${shown} ${UNITS[unit] ?? ''}`;
}

const AGES = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** In the largest unit that there is at least one of. */
export function ageText(ageMs: number): string {
  const unit = AGES.find(({ ms }) => ageMs >= ms) ?? AGES[3];
  return `${Math.max(0, Math.floor(ageMs / unit.ms))} ${unit.name}`;
}

/** The code of a failed system call, else what it says. */
export function codeOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string')
    return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The file that a failed system call was about. */
export function pathOf(cause: unknown): string | undefined {
  const path = cause instanceof Error && 'path' in cause ? cause.path : undefined;
  return typeof path === 'string' && path !== '' ? path : undefined;
}
