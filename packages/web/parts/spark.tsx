// A chart of one line of text: calls as bars, refused ones on top of them.
interface SparkProps {
  readonly label: string;
  readonly calls: readonly number[];
  readonly refused: readonly number[];
}

const HEIGHT = 20;
const BAR = 3;

export function Spark({ label, calls, refused }: SparkProps) {
  const most = Math.max(1, ...calls);
  const scaled = (value: number) => (value === 0 ? 0 : Math.max(1, (value / most) * HEIGHT));
  return (
    <svg width={calls.length * BAR} height={HEIGHT} role="img" aria-label={label} className="block">
      {calls.map((count, at) => {
        const height = scaled(count);
        const stopped = scaled(refused[at] ?? 0);
        return (
          // oxlint-disable-next-line react/no-array-index-key -- A bar is its place in time.
          <g key={at}>
            <rect
              x={at * BAR}
              y={HEIGHT - height}
              width={BAR - 1}
              height={height}
              fill="var(--color-dim)"
            />
            <rect
              x={at * BAR}
              y={HEIGHT - stopped}
              width={BAR - 1}
              height={stopped}
              fill="var(--color-block)"
            />
          </g>
        );
      })}
    </svg>
  );
}
