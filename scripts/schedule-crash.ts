import { crashSchedules, everyMs } from '../test/faults/schedule-crash.ts'

/** `bun scripts/schedule-crash.ts [kills]`: kills the service with -9 repeatedly while schedules run. */
const [kills = 20] = process.argv.slice(2).map(Number)
const { dueTimes, absences, failed } = await crashSchedules({
  kills,
  random: Math.random,
  progress: (kill) => console.error(`kill ${kill}`),
})
const twice = Object.values(dueTimes).reduce((sum, times) => sum + times.length - new Set(times).size, 0)
const all = dueTimes.all
const missing = (all.at(-1)! - all[0]!) / everyMs + 1 - new Set(all).size
const skipped = dueTimes.skip.filter((time) => absences.some(({ from, to }) => time > from && time < to)).length
console.log(JSON.stringify({ kills, runs: Object.values(dueTimes).flat().length, twice, missing, skipped, failed }))
process.exit(twice + missing + skipped + failed === 0 ? 0 : 1)
