// permissions.yaml → permissions, or everything that is wrong with the file.
import {
  type PermissionLimits,
  type PermissionsFile,
  STEWARD_CHANNELS,
  STEWARD_CONFIG_FILES,
} from '@subluminal/contracts';
import { HOURS_FAULTS, readDuration, readHours, readRate } from '@subluminal/core/quantities';
import type { Path, SourceFinding } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { type FormSource, readForm } from '../text/index.ts';
import { actionFault } from './actions.ts';
import type { ReadPermissions } from './types.ts';

const ACTION_FIX = 'Write `SERVER.TOOL`, like `email.send` or `files.*`.';
const RATE_FIX = 'Write it like `30/minute`.';
const DURATION_FIX = 'Write it like `30s`, `5m` or `2h`.';
const SHOWN = ['action', 'params', 'reasoning', 'guardian_verdict'] as const;

export function readPermissions(source: FormSource): ReadPermissions {
  const read = readForm(source, STEWARD_CONFIG_FILES['permissions.yaml']);
  if (!read.ok) return { kind: 'broken', problems: read.problems };
  const file = read.value;
  const findings = [
    ...actionLists(file).flatMap(([path, actions]) =>
      actions.flatMap((action, at) => actionFinding(action, [...path, at])),
    ),
    ...Object.keys(file.limits).flatMap((action) => {
      const at = ['limits', action];
      return actionFinding(action, at).map((finding) => ({ ...finding, atKey: true }));
    }),
    ...limitLists(file).flatMap(([path, limits]) => limitFindings(path, limits)),
    ...confirmationFindings(file),
    ...Object.keys(file.channels).flatMap(channelFinding),
  ];
  const problems = read.place(findings);
  if (problems.length > 0) return { kind: 'broken', problems };
  const confirmationMs = readDuration(file.tiers.human_approval.confirmation.timeout) ?? 0;
  return { kind: 'permissions', file, confirmationMs };
}

function wrong(path: Path, message: string, fix: string): SourceFinding {
  return { code: 'SUB_STEWARD_VALUE', path, message, fix };
}

type Placed<T> = readonly (readonly [path: Path, value: T])[];

function actionLists({ tiers, channels }: PermissionsFile): Placed<readonly string[]> {
  return [
    ...Object.entries(tiers).map(([tier, { actions }]) => {
      return [['tiers', tier, 'actions'], actions] as const;
    }),
    ...Object.entries(channels).flatMap(([name, { human_approval, forbidden }]) => {
      return [
        [['channels', name, 'human_approval'], human_approval],
        [['channels', name, 'forbidden'], forbidden],
      ] as const;
    }),
  ];
}

function limitLists({ tiers, limits, channels }: PermissionsFile): Placed<PermissionLimits> {
  const { auto_execute, log_and_execute, human_approval } = tiers;
  return [
    ...Object.entries({ auto_execute, log_and_execute, human_approval }).map(
      ([tier, { constraints }]) => [['tiers', tier, 'constraints'], constraints] as const,
    ),
    ...Object.entries(limits).map(([action, one]) => [['limits', action], one] as const),
    ...Object.entries(channels).map(([name, { constraints }]) => {
      return [['channels', name, 'constraints'], constraints] as const;
    }),
  ];
}

function actionFinding(action: string, path: Path): readonly SourceFinding[] {
  const fault = actionFault(action);
  if (fault === undefined) return [];
  return [wrong(path, `the action ${quote(action)} cannot be used: ${fault}`, ACTION_FIX)];
}

function limitFindings(path: Path, limits: PermissionLimits): readonly SourceFinding[] {
  const { rate_limit, cooldown, hours } = limits;
  const found: SourceFinding[] = [];
  if (rate_limit !== undefined && readRate(rate_limit) === undefined) {
    found.push(wrong([...path, 'rate_limit'], '`rate_limit` is no rate', RATE_FIX));
  }
  if (cooldown !== undefined && readDuration(cooldown) === undefined) {
    found.push(wrong([...path, 'cooldown'], '`cooldown` is no duration', DURATION_FIX));
  }
  const field = hours === undefined ? undefined : readHours(hours);
  if (typeof field === 'string') {
    const { message, fix } = HOURS_FAULTS[field];
    found.push(wrong([...path, 'hours', field], message, fix));
  }
  return found;
}

function channelFinding(name: string): readonly SourceFinding[] {
  const known: readonly string[] = STEWARD_CHANNELS;
  if (known.includes(name)) return [];
  const fix = `Name one of ${known.join(', ')}.`;
  return [{ ...wrong(['channels', name], `there is no channel ${quote(name)}`, fix), atKey: true }];
}

function confirmationFindings({ tiers }: PermissionsFile): readonly SourceFinding[] {
  const { timeout, show } = tiers.human_approval.confirmation;
  const path = ['tiers', 'human_approval', 'confirmation'];
  const found: SourceFinding[] = [];
  if (readDuration(timeout) === undefined) {
    found.push(wrong([...path, 'timeout'], '`timeout` is no duration', DURATION_FIX));
  }
  if (show !== undefined && !SHOWN.every((part) => show.includes(part))) {
    const fix = `Write \`show: [${SHOWN.join(', ')}]\`, or leave it out.`;
    found.push(wrong([...path, 'show'], 'a confirmation always shows the whole action', fix));
  }
  return found;
}
