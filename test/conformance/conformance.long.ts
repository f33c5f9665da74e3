import { longFiles, testReproduced } from './reproduced.ts';

testReproduced(longFiles);
