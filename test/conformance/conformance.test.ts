import { shortFiles, testReproduced } from './reproduced.ts';

testReproduced(shortFiles);
