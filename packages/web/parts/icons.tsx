// All icons, drawn on a grid of 16 with a line of 1.4.
import type { ReactNode } from 'react';

function Icon({ children }: { readonly children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="shrink-0"
    >
      {children}
    </svg>
  );
}

export const LiveIcon = () => (
  <Icon>
    <path d="M1.5 8h3l2-5 3 10 2-5h3" />
  </Icon>
);
export const RunsIcon = () => (
  <Icon>
    <path d="M2 4h12M2 8h12M2 12h8" />
  </Icon>
);
export const ApprovalsIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="6" />
    <path d="M5.5 8.2l1.8 1.8 3.4-3.8" />
  </Icon>
);
export const PolicyIcon = () => (
  <Icon>
    <path d="M8 1.8l5 2v4c0 3-2.1 5.2-5 6.4-2.9-1.2-5-3.4-5-6.4v-4z" />
  </Icon>
);
export const ServersIcon = () => (
  <Icon>
    <rect x="2" y="2.5" width="12" height="4.5" rx="1" />
    <rect x="2" y="9" width="12" height="4.5" rx="1" />
    <path d="M4.5 4.8h.01M4.5 11.3h.01" />
  </Icon>
);
export const HintsIcon = () => (
  <Icon>
    <path d="M8 1.8l6.2 6.2L8 14.2 1.8 8z" />
    <path d="M8 5v3.5M8 10.8h.01" />
  </Icon>
);
export const CostIcon = () => (
  <Icon>
    <path d="M2 13.5h12M4 11V8M8 11V3M12 11V6" />
  </Icon>
);
export const LedgerIcon = () => (
  <Icon>
    <path d="M3 2h8.5A1.5 1.5 0 0 1 13 3.5V14H4.5A1.5 1.5 0 0 1 3 12.5z" />
    <path d="M3 11.5h10M6 5h4M6 8h4" />
  </Icon>
);
export const SecretsIcon = () => (
  <Icon>
    <circle cx="5" cy="8" r="3" />
    <path d="M8 8h6v2.5M11.5 8v2" />
  </Icon>
);
export const SettingsIcon = () => (
  <Icon>
    <path d="M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6" />
    <circle cx="10" cy="4.5" r="1.8" />
    <circle cx="6" cy="11.5" r="1.8" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="M4 4l8 8M12 4l-8 8" />
  </Icon>
);
export const CopyIcon = () => (
  <Icon>
    <rect x="5" y="5" width="8.5" height="8.5" rx="1" />
    <path d="M3 10.5H2.5v-8h8V3" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="M3 8.5l3 3 7-7" />
  </Icon>
);
export const PauseIcon = () => (
  <Icon>
    <path d="M5.5 3.5v9M10.5 3.5v9" />
  </Icon>
);
export const PlayIcon = () => (
  <Icon>
    <path d="M5 3l7.5 5L5 13z" />
  </Icon>
);
export const SearchIcon = () => (
  <Icon>
    <circle cx="7" cy="7" r="4.5" />
    <path d="M10.5 10.5L14 14" />
  </Icon>
);
export const ChevronIcon = () => (
  <Icon>
    <path d="M6 4l4 4-4 4" />
  </Icon>
);
export const StewardIcon = () => (
  <Icon>
    <path d="M2.5 3h11v7.5h-6l-3 2.5v-2.5h-2z" />
    <path d="M5.5 6.7h.01M8 6.7h.01M10.5 6.7h.01" />
  </Icon>
);
