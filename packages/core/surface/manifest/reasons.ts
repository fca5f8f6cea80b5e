// Why the surface stops a call: the reasons of the contracts, and the one that only a manifest has.
import { REASONS } from '@subluminal/contracts';

export const SURFACE_REASONS = {
  ...REASONS,
  RATE_LIMITED: 'The calls come faster than the manifest allows.',
} as const;

export type SurfaceReason = keyof typeof SURFACE_REASONS;
