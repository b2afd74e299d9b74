import { executable } from './executable.ts'

// Tests that run the executable import this file to build it before their first test or hook, because building takes
// longer than the time limit of a test.
executable()
