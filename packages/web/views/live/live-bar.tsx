import { useStreamState } from '../../api/live-signal.ts';
import { momentText } from '../../parts/amounts.ts';
import { Button, CopyButton, IconButton } from '../../parts/buttons.tsx';
import { PauseIcon, PlayIcon } from '../../parts/icons.tsx';
import { queryCommand } from '../../search/query-command.ts';
import type { ShownFilter } from '../../search/ranges.ts';
import { SearchField } from '../../search/search-field.tsx';
import { TimeRangeSelect } from '../../search/time-range.tsx';
import { PLAY_SPEED, type Player } from './player.ts';

export function LiveBar({
  filter,
  player,
}: {
  readonly filter: ShownFilter;
  readonly player: Player;
}) {
  const { atMs, isPaused, isPlaying, toggle, goLive } = player;
  const isGoing = atMs === undefined ? !isPaused : isPlaying;
  const playLabel = atMs === undefined ? 'Go on (space)' : `Play ${PLAY_SPEED}× (space)`;
  const isLive = atMs === undefined && !isPaused;
  return (
    <div className="flex items-center gap-2 px-3 py-2 max-sm:flex-wrap">
      <SearchField {...filter} />
      <TimeRangeSelect range={filter.range} />
      <IconButton label={isGoing ? 'Pause (space)' : playLabel} onClick={toggle}>
        {isGoing ? <PauseIcon /> : <PlayIcon />}
      </IconButton>
      <Connection player={player} />
      <Button
        onClick={goLive}
        className={isLive ? 'invisible max-sm:hidden' : ''}
        title="Show what happens now"
      >
        Live
      </Button>
      <CopyButton text={queryCommand(filter)} label={`Copy: ${queryCommand(filter)}`} />
    </div>
  );
}

/** What the list shows, in the same room whatever it says. */
function Connection({ player: { atMs, isPaused } }: { readonly player: Player }) {
  const state = useStreamState();
  const text =
    atMs !== undefined
      ? momentText(atMs).slice(5, 19)
      : state === 'lost'
        ? 'reconnecting'
        : state === 'connecting'
          ? 'connecting'
          : isPaused
            ? 'paused'
            : 'live';
  const dot = text === 'live' ? 'bg-allow' : state === 'lost' ? 'bg-throttle' : 'bg-dim';
  return (
    <span role="status" className="inline-flex w-28 shrink-0 items-center gap-1 text-12 text-dim">
      <span className={`size-2 rounded-4 ${dot}`} aria-hidden="true" />
      {text}
    </span>
  );
}
