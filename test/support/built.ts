import { executable } from './executable.ts'

// Imported for what it does by tests that run the executable: building takes longer than one test or hook may, and a
// file is loaded before its first one begins.
executable()
