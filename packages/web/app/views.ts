// The views: a line here and a folder in `views/`.
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import {
  ApprovalsIcon,
  CostIcon,
  HintsIcon,
  LedgerIcon,
  LiveIcon,
  PolicyIcon,
  RunsIcon,
  SecretsIcon,
  ServersIcon,
  SettingsIcon,
  StewardIcon,
} from '../parts/icons.tsx';

export interface PageView {
  /** The first part of its path. */
  readonly id: string;
  readonly title: string;
  readonly icon: ComponentType;
  /** The key behind `g`. */
  readonly key: string;
  readonly planes: readonly ('ledger' | 'gateway')[];
  /** Only where Steward is set up. */
  readonly isOfSteward?: boolean;
  readonly component: LazyExoticComponent<ComponentType>;
}

const BOTH = ['ledger', 'gateway'] as const;
const LEDGER = ['ledger'] as const;

export const VIEWS: readonly PageView[] = [
  {
    id: 'live',
    title: 'Live',
    icon: LiveIcon,
    key: 'l',
    planes: LEDGER,
    component: lazy(async () => ({ default: (await import('../views/live/index.tsx')).LiveView })),
  },
  {
    id: 'runs',
    title: 'Runs',
    icon: RunsIcon,
    key: 'r',
    planes: LEDGER,
    component: lazy(async () => ({ default: (await import('../views/runs/index.tsx')).RunsView })),
  },
  {
    id: 'approvals',
    title: 'Approvals',
    icon: ApprovalsIcon,
    key: 'a',
    planes: BOTH,
    component: lazy(async () => ({
      default: (await import('../views/approvals/index.tsx')).ApprovalsView,
    })),
  },
  {
    id: 'steward',
    title: 'Steward',
    icon: StewardIcon,
    key: 't',
    planes: LEDGER,
    isOfSteward: true,
    component: lazy(async () => ({
      default: (await import('../views/steward/index.tsx')).StewardView,
    })),
  },
  {
    id: 'policy',
    title: 'Policy',
    icon: PolicyIcon,
    key: 'p',
    planes: BOTH,
    component: lazy(async () => ({
      default: (await import('../views/policy/index.tsx')).PolicyView,
    })),
  },
  {
    id: 'servers',
    title: 'Servers',
    icon: ServersIcon,
    key: 's',
    planes: LEDGER,
    component: lazy(async () => ({
      default: (await import('../views/servers/index.tsx')).ServersView,
    })),
  },
  {
    id: 'hints',
    title: 'Hints',
    icon: HintsIcon,
    key: 'h',
    planes: LEDGER,
    component: lazy(async () => ({
      default: (await import('../views/hints/index.tsx')).HintsView,
    })),
  },
  {
    id: 'cost',
    title: 'Cost',
    icon: CostIcon,
    key: 'c',
    planes: BOTH,
    component: lazy(async () => ({ default: (await import('../views/cost/index.tsx')).CostView })),
  },
  {
    id: 'ledger',
    title: 'Ledger',
    icon: LedgerIcon,
    key: 'd',
    planes: LEDGER,
    component: lazy(async () => ({
      default: (await import('../views/ledger/index.tsx')).LedgerView,
    })),
  },
  {
    id: 'audit',
    title: 'Audit',
    icon: LedgerIcon,
    key: 'd',
    planes: ['gateway'],
    component: lazy(async () => ({
      default: (await import('../views/audit/index.tsx')).AuditView,
    })),
  },
  {
    id: 'secrets',
    title: 'Secrets',
    icon: SecretsIcon,
    key: 'e',
    planes: LEDGER,
    component: lazy(async () => ({
      default: (await import('../views/secrets/index.tsx')).SecretsView,
    })),
  },
  {
    id: 'settings',
    title: 'Settings',
    icon: SettingsIcon,
    key: ',',
    planes: BOTH,
    component: lazy(async () => ({
      default: (await import('../views/settings/index.tsx')).SettingsView,
    })),
  },
];
