// The text format of Prometheus.

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'summary' | 'histogram';
  readonly help: string;
  /** What the name goes on with, such as `_count{server_id="x"}`, and the value. */
  readonly samples: readonly (readonly [string, number])[];
}

export function familyLines(prefix: string, family: Family): readonly string[] {
  const name = `${prefix}${family.name}`;
  return [
    `# HELP ${name} ${family.help}`,
    `# TYPE ${name} ${family.type}`,
    ...family.samples.map(([rest, value]) => `${name}${rest} ${value}`),
  ];
}

/** Labels with their values escaped as the format demands. */
export function labelText(labels: { readonly [label: string]: string | number }): string {
  const pairs = Object.entries(labels).map(([label, value]) => {
    const text = String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"');
    return `${label}="${text.replaceAll('\n', '\\n')}"`;
  });
  return `{${pairs.join(',')}}`;
}
