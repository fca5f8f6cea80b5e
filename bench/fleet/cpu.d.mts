export declare function ownCpuMs(pid: number): number;
export declare function endedCpuMs(pid: number): number;
