import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Where process IDs have their meaning: this boot of this machine, and this container in it. Two containers may have
 * the same host name, and processes with the same ID.
 */
export function placeOfProcess(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // Not Linux. Without containers, the host name is enough.
    return hostname()
  }
}

/**
 * When a process of this place started, in the kernel's unit, so that another one that got its ID is not taken for it.
 * Undefined when it does not run; empty when the system does not tell.
 */
export function startOfProcess(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return isRunning(pid) ? '' : undefined
  }
}

/** Whether a process of this place that started then is gone for certain. */
export function isGone(pid: number, start: string): boolean {
  const found = startOfProcess(pid)
  // Other users' processes may be hidden in part.
  return found === undefined || (found !== '' && start !== '' && found !== start)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
