import './nowhere.mjs'
