#!/bin/sh
if true; then
  echo open
